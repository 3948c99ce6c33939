"""What a person sees: text and progress."""
