package plugins

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
)

// Used is what a preview used of the environment of its user to fetch a set.
type Used struct {
	CAFile string // empty if the CAs of the machine were enough
	// Places are where the credentials were that the config does not give.
	Places auth.Places
	// PullSecrets are the Secrets with credentials for registries, as NAMESPACE/NAME.
	PullSecrets []string
}

// References returns what a set is fetched from with credentials that its config does not
// give.
func (s *Set) References() []ref.Reference {
	var out []ref.Reference
	for _, p := range s.Plugins {
		for _, a := range p.Artifacts {
			if !a.Auth.Given() {
				out = append(out, a.Reference)
			}
		}
	}
	return out
}

// The volumes, directories and keys of what an init container is given by reference.
const (
	volumeCredentials = "kubectl-operator-credentials"
	volumeRegistry    = "kubectl-operator-registry"
	volumeCA          = "kubectl-operator-ca"
	credentialsDir    = "/etc/kubectl-operator-credentials"
	registryDir       = "/etc/kubectl-operator-registry"
	registryKey       = ".dockerconfigjson"
	caDir             = "/etc/kubectl-operator-ca"
	caKey             = "ca.crt"
)

// initContainer is an init container with its additional volumes, and the objects they
// refer to.
type initContainer struct {
	host    *Host
	body    map[string]any
	volumes []any
	needs   []string
	// secret holds credentials by their keys, each with what makes it of the user's own.
	secret map[string]credential
}

// credential is what a key of the Secret is made of: a variable that the shell of the user
// has, or a file.
type credential struct{ variable, file string }

// carry gives the init container the preview's inputs by reference: credentials of the
// config and the environment, from a Secret by the names of their variables and files;
// registry credentials, from a Secret of their type; and the CA, from a ConfigMap. None of
// them is read here.
func (c *initContainer) carry(set *Set, used Used) error {
	c.secret = map[string]credential{}
	for _, p := range set.Plugins {
		for _, a := range p.Artifacts {
			for _, s := range []Secret{a.Auth.Password, a.Auth.Bearer, a.Auth.Google, a.Auth.SecretKey} {
				if s.beside {
					return fmt.Errorf("plugin %s: its login is in the file %s next to the config, and a pod does not have that file; write an absolute path or {env: NAME}", clip(p.Name), clip(s.File))
				}
				switch {
				case s.Env != "":
					if err := c.variable(s.Env); err != nil {
						return fmt.Errorf("plugin %s: %w", clip(p.Name), err)
					}
				case s.File != "":
					c.file(s.File, s.File)
				}
			}
		}
	}
	for _, name := range used.Places.Variables {
		if err := c.variable(name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(used.Places.Files)) {
		at := credentialsDir + "/" + name
		c.add("env", map[string]any{"name": name, "value": at})
		c.file(at, used.Places.Files[name])
	}
	if len(c.secret) > 0 {
		command, err := c.secretCommand()
		if err != nil {
			return err
		}
		c.need("The credentials that the preview used come from a Secret: %s", command)
	}
	c.registries(used)
	if used.CAFile != "" {
		name := c.host.ConfigMap.Name + "-ca"
		c.add("args", "--ca-file", caDir+"/"+caKey)
		c.mount(map[string]any{"name": volumeCA, "mountPath": caDir, "readOnly": true}, map[string]any{"name": volumeCA, "configMap": map[string]any{"name": name}})
		c.need("The CA that the preview trusted comes from a ConfigMap: %s",
			commandline.Join("kubectl", "create", "configmap", name, "--namespace", c.namespace(), "--from-file", caKey+"="+used.CAFile))
	}
	return nil
}

func (c *initContainer) namespace() string   { return c.host.Deployment.Namespace }
func (c *initContainer) credentials() string { return c.host.ConfigMap.Name + "-credentials" }

func (c *initContainer) need(text string, args ...any) {
	c.needs = append(c.needs, fmt.Sprintf(text, args...))
}

var (
	// shellName matches what a shell takes for the name of a variable.
	shellName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	// notInKeys matches what a key of a Secret may not have.
	notInKeys = lazyregexp.New(`[^A-Za-z0-9._-]`)
)

// variable gives a variable of the user's environment, once. Its name stands in a command
// for a shell.
func (c *initContainer) variable(name string) error {
	if !shellName.MatchString(name) {
		return fmt.Errorf("a credential is in the variable %s, a name that no shell takes; call it by letters, digits and _", clip(name))
	}
	if c.has("env", "name", name) {
		return nil
	}
	key := c.key(name)
	c.add("env", map[string]any{"name": name, "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": c.credentials(), "key": key}}})
	c.secret[key] = credential{variable: name}
	return nil
}

// file gives a file of the user at a path, once.
func (c *initContainer) file(at, from string) {
	if c.has("volumeMounts", "mountPath", at) {
		return
	}
	key := c.key(path.Base(at))
	c.mount(map[string]any{"name": volumeCredentials, "mountPath": at, "subPath": key, "readOnly": true},
		map[string]any{"name": volumeCredentials, "secret": map[string]any{"secretName": c.credentials()}})
	c.secret[key] = credential{file: from}
}

// key returns the key in the Secret of a credential: its name, with a number before it
// where another has that.
func (c *initContainer) key(name string) string {
	name = notInKeys.ReplaceAllString(name, "_")
	key := name
	for n := 2; c.secret[key] != (credential{}); n++ {
		key = fmt.Sprintf("%d-%s", n, name)
	}
	return key
}

// maxVariables is how many variables one command takes: each has its own descriptor, of
// the ten that every shell has.
const maxVariables = 8

// secretCommand returns the command that makes the Secret of the credentials. The shell
// itself writes the values of variables, each to a descriptor of the command, as arguments
// of kubectl stand in the list of processes.
func (c *initContainer) secretCommand() (string, error) {
	words := []string{"kubectl", "create", "secret", "generic", c.credentials(), "--namespace", c.namespace()}
	var variables []string // keys of the Secret
	for _, key := range slices.Sorted(maps.Keys(c.secret)) {
		if c.secret[key].variable != "" {
			variables = append(variables, key)
		}
	}
	if len(variables) > maxVariables {
		return "", fmt.Errorf("the credentials are in %d variables; at most %d go into one Secret, so write others into files", len(variables), maxVariables)
	}
	for _, key := range slices.Sorted(maps.Keys(c.secret)) {
		from := c.secret[key].file
		switch at := slices.Index(variables, key); {
		case at < 0:
		case at == len(variables)-1:
			from = "/dev/stdin"
		default:
			from = fmt.Sprintf("/dev/fd/%d", firstDescriptor+at)
		}
		words = append(words, "--from-file", key+"="+from)
	}
	command := commandline.Join(words...)
	for i, key := range slices.Backward(variables) {
		if i < len(variables)-1 {
			command = fmt.Sprintf("{ %s; } %d<&0", command, firstDescriptor+i)
		}
		command = fmt.Sprintf(`printf %%s "$%s" | %s`, c.secret[key].variable, command)
	}
	return command, nil
}

// firstDescriptor is the first file descriptor of a shell without a meaning.
const firstDescriptor = 3

// registries gives the credentials for registries: the pull secret itself where the pod may
// use it, else a Secret made of the config file, or of what a helper keeps.
func (c *initContainer) registries(used Used) {
	name, home := c.host.ConfigMap.Name+"-registry", c.namespace()
	create := []string{"kubectl", "create", "secret", "docker-registry", name, "--namespace", home}
	switch p := used.Places; {
	case len(used.PullSecrets) > 0:
		namespace, secret, _ := strings.Cut(used.PullSecrets[0], "/")
		if namespace == home {
			name = secret
			break
		}
		get := commandline.Join("kubectl", "get", "secret", secret, "--namespace", namespace, "-o", `go-template={{index .data "`+registryKey+`" | base64decode}}`)
		c.need("The credentials for registries come from a Secret, which is made of the pull secret %s: %s | %s %s/dev/stdin", used.PullSecrets[0], get, commandline.Join(create...), "--from-file "+registryKey+"=")
	case len(p.Helped) > 0:
		c.need(`The credentials for registries come from a Secret, which has what a credential helper keeps for %s; with that in USERNAME and PASSWORD: %s "$USERNAME" "$PASSWORD" | %s`, strings.Join(p.Helped, ", "),
			commandline.Join("printf", `{"auths":{"%s":{"username":"%s","password":"%s"}}}`, p.Helped[0]), commandline.Join(append(create, "--from-file", registryKey+"=/dev/stdin")...))
	case p.Registry != "":
		c.need("The credentials for registries come from a Secret: %s", commandline.Join(append(create, "--from-file", registryKey+"="+p.Registry)...))
	default:
		return
	}
	c.add("args", "--registry-config", registryDir+"/"+registryKey)
	c.mount(map[string]any{"name": volumeRegistry, "mountPath": registryDir, "readOnly": true}, map[string]any{"name": volumeRegistry, "secret": map[string]any{"secretName": name}})
}

func (c *initContainer) add(list string, items ...any) {
	c.body[list] = append(preview.List(c.body, list), items...)
}

// has reports whether one of a list has a text in a field.
func (c *initContainer) has(list, field, text string) bool {
	return slices.ContainsFunc(preview.Maps(c.body, list), func(m map[string]any) bool { return m[field] == text })
}

// mount adds a mount of a volume, and the volume unless it is there.
func (c *initContainer) mount(mount, volume map[string]any) {
	c.add("volumeMounts", mount)
	named := func(v any) bool {
		one, _ := v.(map[string]any)
		return one["name"] == volume["name"]
	}
	if !slices.ContainsFunc(c.volumes, named) {
		c.volumes = append(c.volumes, volume)
	}
}
