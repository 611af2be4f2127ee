"""What a service did, from its log: latencies, rates, and which requests met their promise."""
