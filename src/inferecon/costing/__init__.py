"""What a service under load costs: dollars, energy, emissions and water, however it is held."""
