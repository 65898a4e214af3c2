{{ config(
    materialized = 'table',
    post_hook = [
      "copy {{ this }} to 'target/{{ this.name }}.parquet' (format parquet)",
      "select shoal_verify('target/{{ this.name }}.parquet', 'policies/{{ this.name }}.yaml')"
    ]
) }}
select age, sex, illness from {{ ref('visits_anonymised') }}
