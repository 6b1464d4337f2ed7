"""The membership experiment: coins, models, scores, and what is certified of them."""
