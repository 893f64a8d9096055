"""Choices made from data: kernels, ridge, C, calibration."""
