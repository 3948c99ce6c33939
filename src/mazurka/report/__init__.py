"""What people see: results as text, in colour and as JSON, and progress."""
