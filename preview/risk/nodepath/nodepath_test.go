package nodepath

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func TestPaths(t *testing.T) {
	table := Load()
	for _, test := range []struct {
		name, path         string
		writable, readOnly rules.Level
	}{
		{"the root holds every path", "/", rules.Critical, rules.Critical},
		{"no path is the root", "", rules.Critical, rules.Critical},
		{"two slashes are the root", "//", rules.Critical, rules.Critical},
		{"a dot is the root", "/.", rules.Critical, rules.Critical},
		{"the root by a step up", "/var/..", rules.Critical, rules.Critical},
		{"a directory above the kubelet's", "/var/lib", rules.Critical, rules.Critical},
		{"two above", "/var", rules.Critical, rules.Critical},
		{"above, with a slash behind", "/var/lib/", rules.Critical, rules.Critical},
		{"above, with a dot within", "/./var//lib/.", rules.Critical, rules.Critical},
		{"without slash before", "var/lib/kubelet", rules.Critical, rules.Critical},
		{"the sockets' directory", "/run", rules.Critical, rules.Critical},
		{"by its link", "/var/run/", rules.Critical, rules.Critical},
		{"a socket read-only", "/var/run/docker.sock", rules.Critical, rules.Critical},
		{"a socket elsewhere", "/data/sockets/containerd.sock", rules.Critical, rules.Critical},
		{"k3s", "/run/k3s/containerd/containerd.sock", rules.Critical, rules.Critical},
		{"another socket of /run", "/run/foo.sock", rules.Critical, rules.High},
		{"device plugins", "/var/lib/kubelet/device-plugins", rules.Critical, rules.Critical},
		{"devices of pods", "/var/lib/kubelet/pod-resources/kubelet.sock", rules.High, rules.High},
		{"keys of the control plane", "/etc/kubernetes/pki/sa.key", rules.Critical, rules.Critical},
		{"all of /etc read-only", "/etc/.", rules.Critical, rules.Critical},
		{"through a process", "/proc/1/root", rules.Critical, rules.Critical},
		{"through a process, deeper", "/proc/self/root/var/lib/etcd", rules.Critical, rules.Critical},
		{"through many processes", strings.Repeat("/proc/1/root", 20), rules.Critical, rules.Critical},
		{"links of logs", "/var/log", rules.Critical, rules.High},
		{"logs of one program", "/var/log/nginx", rules.High, rules.Medium},
		{"modules", "/lib/modules", rules.Critical, rules.Medium},
		{"plugins of the network", "/opt/cni/bin", rules.Critical, rules.Medium},
		{"above them", "/opt", rules.Critical, rules.High},
		{"control groups", "/sys/fs/cgroup", rules.Critical, rules.Medium},
		{"cron", "/etc/cron.d", rules.Critical, rules.High},
		{"the drive of Windows", `C:\`, rules.Critical, rules.Critical},
		{"the drive without separator", "c:", rules.Critical, rules.Critical},
		{"the drive as a device", `\\?\C:\`, rules.Critical, rules.Critical},
		{"above a path of Windows", `C:\VAR\lib`, rules.Critical, rules.Critical},
		{"a pipe of Windows", `\\.\pipe\docker_engine`, rules.Critical, rules.Critical},
		{"a pipe with slashes", "//./Pipe/containerd-containerd", rules.Critical, rules.Critical},
		{"all pipes", `\\.\pipe`, rules.Critical, rules.Critical},
		{"the clock of the node", "/etc/localtime", rules.Critical, rules.Medium},
		{"a lock", "/run/xtables.lock", rules.Medium, rules.Medium},
		{"data of a program", "/data/db", rules.High, rules.Medium},
		{"a name that begins alike", "/etcetera", rules.High, rules.Medium},
		{"dots in a name", "/data/..x", rules.High, rules.Medium},
		{"another drive", `D:\data`, rules.High, rules.Medium},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := table.Judge(test.path); got.Writable != test.writable || got.ReadOnly != test.readOnly {
				t.Errorf("%q (%s): %+v, want %d and %d", test.path, Clean(test.path), got, test.writable, test.readOnly)
			}
		})
	}
}

func TestTheTableIsWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Load().rows {
		if seen[r.path] || r.Writable == rules.None || r.ReadOnly == rules.None || r.Leads == "" || r.Writable < r.ReadOnly {
			t.Errorf("row %+v", r)
		}
		if Clean(r.path) != r.path {
			t.Errorf("%s is compared as %s", r.path, Clean(r.path))
		}
		seen[r.path] = true
	}
}

// Each path of the table stays what it is in every spelling.
func TestSpellingsOfPaths(t *testing.T) {
	table := Load()
	spellings := []func(string) string{
		func(p string) string { return p + "/" },
		func(p string) string { return p + "//." },
		func(p string) string { return "/" + p },
		func(p string) string { return "/." + p },
		func(p string) string { return strings.ReplaceAll(p, "/", "///") },
		func(p string) string { return strings.TrimPrefix(p, "/") },
		func(p string) string { return "/proc/1/root" + p },
		func(p string) string { return strings.Replace(p, "/run", "/var/run", 1) },
	}
	for _, r := range table.rows {
		if strings.HasPrefix(r.path, "/c:") || r.path == "/pipe" {
			continue
		}
		want := table.Judge(r.path)
		for i, spell := range spellings {
			if got := table.Judge(spell(r.path)); got.Writable != want.Writable || got.ReadOnly != want.ReadOnly {
				t.Errorf("%s as %s (%d): %+v, want %+v", r.path, spell(r.path), i, got, want)
			}
		}
		for above := r.path; above != "/"; {
			above = above[:strings.LastIndexByte(above, '/')]
			if above == "" {
				above = "/"
			}
			if got := table.Judge(above); got.Writable < r.Writable || got.ReadOnly < r.ReadOnly {
				t.Errorf("%s is above %s: %+v, want at least %+v", above, r.path, got, r.Verdict)
			}
		}
	}
}
