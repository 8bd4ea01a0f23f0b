"""What every room of this floor rests on: who may do what, what a unit and a value are, blindness, the trail."""
