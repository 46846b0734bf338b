package store

// Suspect tells that the folder may hold what a call did after which no state is
// known: a crash cut it off, or the state couldn't be kept. It was the last of the
// chat's last answer, or a page's, and no state was taken since.
func (c *OpenChat) Suspect() bool {
	if c.Parent != c.Chat.ActiveLeaf {
		return false
	}
	if c.Chat.CutShort || len(c.Path) == 0 {
		return c.Chat.CutShort
	}
	leaf := &c.Path[len(c.Path)-1]
	return leaf.StateUnknown && leaf.ManifestID == c.Chat.ActiveManifest
}
