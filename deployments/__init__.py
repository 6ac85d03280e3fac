"""What a team runs: work pool, deployments, automations, CI and a stack of server, database and workers."""
