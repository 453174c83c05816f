package format

import "fmt"

// None returns an error if any parameter is set, for what, a format that takes none:
// parameters are never ignored.
func (p Params) None(what string) error {
	switch {
	case len(p.Values) > 0:
		return fmt.Errorf("%s takes no values (--values, --set)", what)
	case p.InstallMode != "" || len(p.WatchNamespaces) > 0:
		return fmt.Errorf("%s has no install modes (--install-mode, --watch-namespace)", what)
	case len(p.Variables) > 0:
		return fmt.Errorf("%s has no variables to substitute", what)
	case p.Certs != "":
		return fmt.Errorf("%s brings its own certificates, if any (--certs)", what)
	}
	return nil
}
