"""Privacy and accuracy of many mechanisms on one data set: which of them should I use?"""
