package pods

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// OpenServer is a server in a pod that asks its clients for no login.
type OpenServer struct {
	Container, By, Does string
	// RunsCode: a client that reaches it runs commands there, with the pod's account.
	RunsCode bool
}

// openSettings are arguments, and variables as NAME=VALUE, with which servers ask for no
// login. An argument and its value are joined with "=".
var openSettings = []struct {
	match    *lazyregexp.Regexp
	does     string
	runsCode bool
}{
	{lazyregexp.New(`^--(?:\w*App|IdentityProvider|PasswordIdentityProvider)\.(?:token|hashed_password|password)=(?:["']{2})?$|^JUPYTER_TOKEN=$|^(?:--no-token|--without-connection-token)$`), "runs notebooks and terminals", true},
	{lazyregexp.New(`^--auth=none$|^DISABLE_AUTH=(?:true|1|yes)$`), "serves without authentication, as editors with terminals do by this", true},
	{lazyregexp.New(`^(?:NO_AUTH|AUTH_DISABLED)=(?:true|1|yes)$|^--(?:disable-auth|no-auth|disable-authentication|no-authentication|without-auth)(?:=(?:true|1|yes))?$`), "serves without authentication", false},
	{lazyregexp.New(`^--auth-mode=server$`), "acts for everyone with its own account", true},
	{lazyregexp.New(`^(?:-H|--host)=?tcp://(?:0\.0\.0\.0|\[?::\]?)?:2375$|^DOCKER_TLS_CERTDIR=$`), "starts containers (Docker)", true},
	{lazyregexp.New(`^-?-?D?jenkins\.install\.runSetupWizard=false$|^JAVA_OPTS=.*runSetupWizard=false`), "runs jobs (Jenkins)", true},
	{lazyregexp.New(`^--(?:inspect|inspect-brk)=(?:0\.0\.0\.0|\[?::\]?)(?::\d+)?$|^--remote-debugging-address=0\.0\.0\.0$|^--dashboard-host=0\.0\.0\.0$`), "takes code from a debugger or a driver", true},
	{lazyregexp.New(`^(?:N8N_BASIC_AUTH_ACTIVE=false|AIRFLOW__API__AUTH_BACKENDS?=.*backend\.default|AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS=(?i:true))$`), "runs workflows", true},
	{lazyregexp.New(`^(?:ALLOW_EMPTY_PASSWORD|MYSQL_ALLOW_EMPTY_PASSWORD|MARIADB_ALLOW_EMPTY_ROOT_PASSWORD|ALLOW_ANONYMOUS_LOGIN)=(?:yes|true|1)$|^POSTGRES_HOST_AUTH_METHOD=trust$|^NEO4J_AUTH=none$|^--noauth$|^--protected-mode=no$`), "serves data", false},
	{lazyregexp.New(`(?i)^(?:xpack[._]security[._]enabled|plugins\.security\.disabled)=(?:false|true)$|^DISABLE_SECURITY_PLUGIN=true$|^--client-cert-auth=false$|^--listen-client-urls=http://(?:0\.0\.0\.0|\[::\])`), "serves data", false},
}

// OpenServers returns the servers in a pod that ask for no login.
func OpenServers(pod map[string]any) []OpenServer {
	var out []OpenServer
	for _, container := range cloud.Containers(pod) {
		settings := settingsOf(container)
		for _, setting := range openSettings {
			for _, text := range settings {
				if setting.match.MatchString(text) {
					out = append(out, OpenServer{preview.String(container, "name"), text, setting.does, setting.runsCode})
					break
				}
			}
		}
	}
	return out
}

// settingsOf returns the arguments of a container, those in the text of a shell too, and
// its variables.
func settingsOf(container map[string]any) []string {
	var words, out []string
	for _, word := range wordsOf(container) {
		if fields := strings.Fields(word); len(fields) > 1 && !strings.HasPrefix(word, "-") {
			words = append(words, fields...)
			continue
		}
		words = append(words, word)
	}
	for i, word := range words {
		out = append(out, word)
		if strings.HasPrefix(word, "-") && !strings.Contains(word, "=") && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			out = append(out, word+"="+words[i+1])
		}
	}
	for _, env := range preview.Maps(container, "env") {
		if env["valueFrom"] == nil {
			out = append(out, preview.String(env, "name")+"="+preview.String(env, "value"))
		}
	}
	return out
}
