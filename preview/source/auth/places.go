package auth

import (
	"os"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// Places says where the user's own credentials for some references are, without their
// values, so that another machine can have them by reference.
type Places struct {
	// Variables are the names of environment variables that hold one, sorted.
	Variables []string
	// Files are the paths of files that hold one, by the variable that leads to each.
	Files map[string]string
	// Registry is the path of the config file of Docker or Podman that has some for a
	// registry; empty for none.
	Registry string
	// Helped are the registries whose credentials a helper keeps, which that file does not
	// have.
	Helped []string
}

// s3Variables are the AWS SDK's variables for a key and where to use it.
var s3Variables = []string{
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3",
}

// The variables that name files with credentials.
const (
	googleFile = "GOOGLE_APPLICATION_CREDENTIALS"
	netrcFile  = "NETRC"
)

// PlacesOf returns where this process has the user's own credentials for references. A
// registry's are read from the named config file, or from those that [NewUserKeychain] reads.
func PlacesOf(references []ref.Reference, registryConfig string) (Places, error) {
	out := Places{Files: map[string]string{}}
	keychain, err := NewUserKeychain(registryConfig, 0)
	if err != nil {
		return out, err
	}
	user, err := readUserCredentials()
	if err != nil {
		return out, err
	}
	for _, r := range references {
		switch {
		case r.Kind == ref.KindImage:
			out.registry(keychain, registryConfig, r)
		case r.Kind == ref.KindBucket && r.Provider == ref.ProviderS3:
			out.variables(s3Variables...)
		case r.Kind == ref.KindBucket:
			out.file(googleFile, os.Getenv(googleFile))
		case r.URL != "":
			out.server(user, hostOf(r))
		}
	}
	slices.Sort(out.Variables)
	return out, nil
}

// variables adds those that are set.
func (p *Places) variables(names ...string) {
	for _, name := range names {
		if os.Getenv(name) != "" && !slices.Contains(p.Variables, name) {
			p.Variables = append(p.Variables, name)
		}
	}
}

func (p *Places) file(variable, path string) {
	if path != "" {
		p.Files[variable] = path
	}
}

// server adds the credentials for an https server, as [userCredentials] finds them.
func (p *Places) server(user userCredentials, host string) {
	for _, name := range append([]string{TokenVariable(host)}, forgeTokens[strings.ToLower(host)]...) {
		if strings.TrimSpace(user.env(name)) != "" {
			p.variables(name)
			return
		}
	}
	if slices.ContainsFunc(user.netrc, func(e netrcEntry) bool { return strings.EqualFold(e.machine, host) }) {
		p.file(netrcFile, netrcPath())
	}
}

// registry adds the config file that decides about an image.
func (p *Places) registry(keychain *UserKeychain, named string, r ref.Reference) {
	host := strings.ToLower(hostOf(r))
	_, repo, _ := strings.Cut(r.Repository(), "/")
	for _, file := range keychain.files {
		_, _, ok := file.entry(host, repo)
		helper := orElse(file.helpers[host], file.store)
		switch {
		case !ok && helper == "":
			continue
		case file.place == dockerVariable && named == "":
			p.variables(dockerVariable)
		default:
			p.Registry = file.place
		}
		if !ok && !slices.Contains(p.Helped, host) {
			p.Helped = append(p.Helped, host)
		}
		return
	}
}
