"""What skills, planners, predicates and backends implement."""
