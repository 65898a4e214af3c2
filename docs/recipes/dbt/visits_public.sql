{{ config(
    materialized = 'table',
    post_hook = [
      "copy {{ this }} to 'target/{{ this.name }}.parquet' (format parquet, write_bloom_filter false)",
      "select shoal_verify('target/{{ this.name }}.parquet', 'policies/{{ this.name }}.yaml')"
    ]
) }}
select age, sex, illness from {{ ref('visits_anonymised') }}
