package wholefile

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"

	"github.com/fettle-cli/fettle/internal/atomicfile"
)

// Exposed is about mode bits, which Windows doesn't have: a private file was
// made with an access list for its owner.
func Exposed(fs.FileInfo) bool { return false }

func open(path string) (*os.File, error) { return atomicfile.Open(path) }

// restrict gives a file an access list that names its owner alone and takes
// nothing over from the folder.
func restrict(path string) error {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("find the user: %w", err)
	}
	sd, err := windows.SecurityDescriptorFromString("D:P(A;;FA;;;" + user.User.Sid.String() + ")")
	if err != nil {
		return fmt.Errorf("make an access list: %w", err)
	}
	dacl, _, err := sd.DACL()
	if err != nil {
		return fmt.Errorf("make an access list: %w", err)
	}
	return windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT,
		windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, dacl, nil)
}

func keepOwner(*os.File, fs.FileInfo) {}
