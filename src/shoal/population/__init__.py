"""What a sample says about the population behind it: uniques, right matches, individual risk, special uniques"""
