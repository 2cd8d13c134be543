"""Saccade behind other servers. `saccade.serve.ray` deploys models with Ray Serve; the command `saccade serve` needs
none of this."""
