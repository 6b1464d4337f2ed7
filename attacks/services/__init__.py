"""Services: what an attacker with query access to a prediction service learns."""
