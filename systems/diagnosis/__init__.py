"""At which stage responses failed, from what people, or judges, said about them."""
