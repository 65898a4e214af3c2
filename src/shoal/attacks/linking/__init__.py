"""Who fits which released record: cells against values, records against people, without a cross join."""
