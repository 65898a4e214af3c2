"""Joint anonymisation: peers make a k-anonymous table together, without anybody whom they must trust. Research."""
