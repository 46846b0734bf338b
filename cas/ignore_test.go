package cas

import "testing"

// An empty folder named .git is no repository, and not part of a state: the sandbox of a
// call has one in its folder while the call runs.
func TestAnEmptyGitFolderIsNotRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.ws.Bound = true
	b.write("a.txt", "a")
	first := b.snap()
	b.mkdir(".git")
	if second := b.snap(); second.Root != first.Root {
		t.Error("an empty .git changed the state")
	}
	b.write(".git/HEAD", "ref: refs/heads/main\n")
	if third := b.snap(); third.Root == first.Root {
		t.Error("a .git with something in it is not recorded")
	}
}
