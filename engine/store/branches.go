package store

// Origin is the message that a branch begins at, for its first state.
func (c *OpenChat) Origin() string {
	if c.Parent == "" && c.Instead != nil {
		return c.Instead.ID
	}
	return c.Parent
}
