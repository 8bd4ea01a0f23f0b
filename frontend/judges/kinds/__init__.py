"""What is shown of each kind of judge: its form, the words of its configuration, and what one may start from."""
