"""Whole tables under differential privacy: marginals are measured with noise, a model is fitted to them, and records
are drawn from the model."""
