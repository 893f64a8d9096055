"""The engine: contracts, the loop, the additive model, the trace and the stop rules."""
