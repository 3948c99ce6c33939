"""What is checked: turns a user's program into executions that can be steered."""
