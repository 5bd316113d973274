"""What several families of learners borrow: types, checks of parameters, words for messages, limits, threads."""
