"""Services: what somebody learns who may only ask a prediction service."""
