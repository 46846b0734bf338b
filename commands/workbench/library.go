package workbench

import (
	"errors"
	"os"
	"sync"

	"github.com/fettle-cli/fettle/commands/config"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/engine/prompts"
)

// Library is the prompts that can be used where the program was started.
func (rt *Runtime) Library() (*prompts.Library, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, fault.Wrap(fault.Failed, "find the current folder", err)
	}
	return rt.LibraryAt(wd)
}

// LibraryAt is the library as a folder sees it.
func (rt *Runtime) LibraryAt(wd string) (*prompts.Library, error) {
	library, refused, err := rt.findLibrary(wd)
	rt.noticeRefused(refused)
	return library, err
}

// LibraryHere returns a function that finds the library of the folder where the program
// was started, for programs that ask again and again: it reports a project that is
// refused once.
func (rt *Runtime) LibraryHere() func() (*prompts.Library, error) {
	wd, gone := os.Getwd()
	var once sync.Once
	return func() (*prompts.Library, error) {
		if gone != nil {
			return nil, fault.Wrap(fault.Failed, "find the current folder", gone)
		}
		library, refused, err := rt.findLibrary(wd)
		if refused != "" {
			once.Do(func() { rt.noticeRefused(refused) })
		}
		return library, err
	}
}

func (rt *Runtime) noticeRefused(dir string) {
	if dir != "" {
		rt.Notice("the prompts in " + dir + " are not used: anyone may write to this folder")
	}
}

// findLibrary returns the library as a folder sees it. refused is a project's folder that
// is not used, since every user can write to it.
func (rt *Runtime) findLibrary(wd string) (library *prompts.Library, refused string, err error) {
	dirs, err := rt.Dirs()
	if err != nil {
		return nil, "", err
	}
	project, refused := config.ProjectDir(wd, dirs.Home, "prompts")
	own := prompts.New(prompts.Places{Config: dirs.Config})
	all := prompts.New(prompts.Places{Config: dirs.Config, Project: project})
	if sameFolder(own.Dir(prompts.User), all.Dir(prompts.Project)) {
		return own, refused, nil
	}
	return all, refused, nil
}

func sameFolder(a, b string) bool {
	ia, errA := os.Stat(a)
	ib, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(ia, ib)
}

// PromptFault says what is wrong with a prompt, and what to do about it.
func PromptFault(name string, err error) error {
	var broken *prompts.Error
	var none *prompts.NotFoundError
	var unknown *prompts.UnknownError
	var long *prompts.TooLongError
	switch {
	case errors.As(err, &broken):
		f := &fault.Fault{Code: fault.Config, Msg: broken.Error(), Remedies: []fault.Remedy{fault.Run("fettle prompts edit " + name)}, Err: err}
		for _, p := range broken.Problems[1:] {
			f.Detail = append(f.Detail, p.String())
		}
		return f
	case errors.As(err, &none):
		f := fault.New(fault.NotFound, none.Error(), fault.Run("fettle prompts list"))
		if none.Near != "" {
			f.Remedies = append([]fault.Remedy{fault.Run("fettle prompts show " + none.Near)}, f.Remedies...)
		}
		return f
	case errors.As(err, &unknown):
		return fault.New(fault.Usage, unknown.Error(), fault.Run("fettle prompts show "+name))
	case errors.As(err, &long):
		return fault.New(fault.Usage, long.Error())
	}
	return fault.Wrap(fault.Failed, "prompt "+name, err)
}
