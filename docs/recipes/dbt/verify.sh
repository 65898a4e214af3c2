#!/bin/sh
# Behind `dbt build`: the table is read where it is, row by row through Arrow, and nothing is exported.
# PostgreSQL: "postgresql://host/db?table=visits_public", the password from PGPASSWORD or a service file.
set -e
shoal verify "duckdb:///$PWD/warehouse.duckdb?table=visits_public" \
  --policy policies/visits_public.yaml --junit target/shoal.xml --sarif target/shoal.sarif
