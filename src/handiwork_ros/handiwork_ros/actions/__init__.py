"""Action servers, the admission of goals, and the leases of arms."""
