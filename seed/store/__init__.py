"""The only package that speaks SQL and knows where the store lies."""
