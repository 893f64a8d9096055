"""Faults on purpose: signals, limits, failing kernels and solvers, full disks, lost workers.

Each try runs in a process of its own, with a time limit, and ends as one of

    model       fit returns, or raises KeyboardInterrupt with a model kept; it predicts finite
                values, and `stop_reason_` tells the truth: "interrupted" after an interrupt
    sentence    one error in one line, the estimator is as it was before, and fits again
    loss        anything else: a crash, a hang, half a state, an interrupt that is swallowed, a
                wrong reason, an error without words

Criterion, fixed before the first full run: no loss.
"""
