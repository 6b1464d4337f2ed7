"""What a user already has, attacked as it is: saved signals, trained models, estimators."""
