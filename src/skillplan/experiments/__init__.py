"""The paper's experiments as data, and the means to run them."""
