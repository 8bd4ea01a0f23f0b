"""What every page shares: access, navigation, keys, texts, the words of the trail."""
