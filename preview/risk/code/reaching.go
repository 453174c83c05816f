package code

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// sender is part of an expression: a program that sends its input to another host.
const sender = `\b(?:curl|wget|ncat|nc|socat|kubectl|oc)\s|/dev/tcp|bearer|requests\.|urlopen`

const client = `\b(?:kubectl|oc)\b[^\n;|&]*\s`

var reaching = []pattern{
	{Attacks, "uses the account's token", true, []string{"secrets/kubernetes.io/serviceaccount"}, expr(`/run/secrets/kubernetes\.io/serviceaccount`), expr(sender), nil},
	{Attacks, "uses the account's token", true, []string{"secrets/kubernetes.io/serviceaccount"}, expr(sender), expr(`/run/secrets/kubernetes\.io/serviceaccount`), nil},
	{Attacks, "calls the API with a token", true, []string{"kubernetes.default", "kubernetes_service_host", "kubernetes_port", "apiserver"}, expr(`\b(?:curl|wget|https?)\b[^\n]*(?:kubernetes\.default|kubernetes_service_host|apiserver)[^\n]*|bearer[^\n]*(?:kubernetes\.default|kubernetes_service_host)|https://\$\{?kubernetes_(?:service_host|port)`), nil, notOnlyAddress},
	{Attacks, "changes permissions with kubectl", true, []string{"kubectl", "oc "}, expr(client + `(?:(?:create|apply|delete|patch|edit|replace|set)\s+(?:\S+\s+)*?(?:cluster)?role(?:binding)?s?\b|create\s+(?:token|sa|serviceaccount)\b|set\s+subject|auth\s+reconcile|certificate\s+approve|adm\s+policy|policy\s+add)`), nil, nil},
	{Attacks, "reads Secrets with kubectl", true, []string{"kubectl", "oc "}, expr(client + `(?:get|describe|extract)\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?)*["']?(?:secrets?\b|all\b[^\n]*secret|[\w,]*,?secrets?\b)`), nil, nil},
	{Attacks, "runs commands elsewhere with kubectl", true, []string{"kubectl", "oc "}, expr(client + `(?:exec|debug|rsh|cp|attach|proxy|port-forward|run)\s`), nil, nil},
	{Attacks, "acts as others with kubectl", true, []string{"--as", "--token", "impersonate-"}, expr(client + `(?:--as(?:-group|-uid)?[= ]|--token[= ])\S|impersonate-(?:user|group)\s*:`), nil, nil},
	{Attacks, "relaxes admission with kubectl", true, []string{"kubectl", "oc "}, expr(client + `(?:label|annotate)\b[^\n]*(?:pod-security\.kubernetes\.io|openshift\.io/scc)|` + client + `delete\s+(?:\S+\s+)*?(?:validating|mutating)(?:webhook|admission)|` + client + `(?:taint|cordon|drain|uncordon)\s`), nil, nil},
	{Attacks, "changes objects with kubectl", false, []string{"kubectl", "oc "}, expr(client + `(?:apply|create|replace|patch|delete|edit|scale|set)\s`), nil, nil},
	{Attacks, "enters the namespaces of the node", true, []string{"nsenter", "/root", "chroot", "pivot_root", "unshare", "setns"}, expr(begin + `nsenter\s|\bchroot\s+(?:-\S+\s+)*["']?/(?:host|rootfs|hostfs|node|mnt|proc/1/root)|/proc/(?:1|self|\$\S+|\d+)/(?:root|cwd)(?:/|\b)|\bpivot_root\b|\bunshare\s[^\n]*(?:-\w*[rU]|--map-root|--user)|\bsetns\(`), nil, nil},
	{Attacks, "calls the container runtime", true, []string{".sock", "runc", "ctr "}, expr(`(?:curl[^\n]*--(?:abstract-)?unix-socket|socat[^\n]*unix|docker\s+-h\s+unix|ctr\s[^\n]*-a|--address)[^\n]*(?:docker|containerd|crio|podman|dockershim|cri-dockerd)\S*\.sock|\brunc\s+(?:run|exec)\b`), nil, nil},
	{Attacks, "loads code into the kernel", true, []string{"insmod", "modprobe", "init_module", "core_pattern", "release_agent", "uevent_helper", "binfmt_misc", "sysrq", "kexec", "kernel/modprobe"}, expr(begin + `insmod\s|` + begin + `modprobe\s+["']?[\w/$]|init_module|>\s*\S*(?:core_pattern|release_agent|uevent_helper|kernel/modprobe|sysrq-trigger|binfmt_misc/register)|(?:core_pattern|release_agent|uevent_helper)\b|\bkexec\s`), nil, nil},
	{Attacks, "mounts disks of the node", true, []string{"mount", "debugfs", "mknod", "fdisk"}, expr(begin + `mount\s[^\n]*/dev/(?:sd|nvme|vd|xvd|dm-|mapper|root|disk|block)|\bdebugfs\s|\bmknod\s+\S+\s+b\s|\bmount\s[^\n]*-t\s+cgroup`), nil, nil},
	{Attacks, "installs itself on the system", true, []string{"cron", "authorized_keys", "sudoers", "ld.so.preload", "rc.local", "profile.d", ".bashrc", "systemctl", "systemd", "/etc/passwd", "/etc/shadow", "kubernetes/manifests"}, expr(`(?:>|\btee\b|\bcp\b|\bmv\b|\binstall\b|\bln\b|\becho\b|\bsed\s+-i)[^\n]*(?:/etc/cron|/var/spool/cron|authorized_keys|/etc/sudoers|ld\.so\.preload|/etc/rc\.local|/etc/profile\.d|/root/\.bashrc|/etc/systemd/system|/lib/systemd/system|/etc/passwd|/etc/shadow|/etc/kubernetes/manifests)|` + begin + `crontab\s+(?:-[^lr]|/|[\w.])|\|\s*crontab\b|\bsystemctl\s+(?:\S+\s+)*(?:enable|link|edit)\b`), nil, nil},
	{Attacks, "makes a program run as its owner", true, []string{"chmod", "setcap", "install"}, expr(`\bchmod\s+(?:-\S+\s+)*(?:[ugoa]*u[goa]*[+=][rwxt]*s|\+[rwxt]*s|a\+[rwxt]*s|0?[4567][0-7]{3})\b|\bsetcap\s+\S*cap_|\binstall\s[^\n]*-\w*m\s*0?[4567][0-7]{3}\b`), nil, nil},
	{Attacks, "switches off what watches", true, []string{"setenforce", "auditctl", "iptables", "histfile", "history -c", "ufw", "falco", "apparmor", "var/log", "nft "}, expr(`\bsetenforce\s+0|\bauditctl\s+-[De]|\b(?:ip6?tables|nft)\s+(?:-F\b|flush\b)|\bunset\s+HISTFILE|HISTFILE=/dev/null|\bhistory\s+-c|\bufw\s+disable|\b(?:pkill|killall|systemctl\s+(?:stop|disable|mask))\s[^\n]*(?:falco|auditd|sysdig|tetragon|tracee|apparmor|aliyun|aegis|osquery|wazuh)|\baa-(?:disable|teardown)\b|\brm\s+-\w*r\w*\s+[^\n]*/var/log\b`), nil, nil},
	{Attacks, "redirects traffic of the node", true, []string{"iptables", "nft ", "ebtables", "ipvsadm", "ip route", "ip rule", "ip r ", "arpspoof", "ettercap", "bettercap", "tcpdump", "tshark", "dnat", "tc "}, expr(begin + `(?:ip6?tables|ebtables)\s[^\n]*-j\s*(?:[DS]NAT|REDIRECT|TPROXY|TEE)\b|\bnft\s+(?:-\S+\s+)*(?:add|insert)\s[^\n]*(?:dnat|snat|redirect|dup)\b|\bipvsadm\s+-[aAe]|\bip\s+(?:-\S+\s+)*r(?:oute|ule)?\s+(?:add|replace|change|del)\b|\b(?:arpspoof|ettercap|bettercap|responder)\b|` + begin + `(?:tcpdump|tshark|dumpcap|ngrep)\s|\btc\s+filter\s[^\n]*mirred`), nil, nil},
	{Attacks, "changes permissions in the cloud", true, []string{"aws ", "gcloud", "az ", "eksctl", "policy/administratoraccess"}, expr(begin + `aws\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?)*(?:iam\s+(?:attach|put|create|update|add|delete|remove|set|upload)-\S+|eks\s+(?:create-access-entry|associate-access-policy))|\bgcloud\s[^\n]*(?:add-iam-policy-binding|set-iam-policy|service-accounts\s+keys\s+create|roles\s+(?:create|update))|` + begin + `az\s+(?:role\s+(?:assignment|definition)\s+(?:create|update)|ad\s+\S+\s+(?:create|credential))|\beksctl\s+create\s+(?:iamidentitymapping|accessentry)|policy/AdministratorAccess`), nil, nil},
	{Attacks, "reads the store of the cluster", true, []string{"etcdctl", "etcdutl", "auger", ":2379", ":2380"}, expr(begin + `(?:ETCDCTL_\w+=\S+\s+)*(?:etcdctl|etcdutl)\s[^\n]*\b(?:get|put|del|watch|snapshot|user|role|auth|member|make-mirror)\b|\b(?:curl|wget)\b[^\n]*:(?:2379|2380)/(?:v2|v3)|/registry/secrets`), nil, nil},
	{Attacks, "destroys data", true, []string{"rm ", "dd ", "mkfs", ":(", "shred", "wipefs"}, expr(`\brm\s+(?:-\S+\s+)*-\w*r\w*\s+(?:-\S+\s+)*["']?/(?:\*|["']?\s|["']?$|host\b|etc\b|var/lib\b|usr\b|root\b)|\bdd\s[^\n]*of=/dev/(?:sd|nvme|vd|xvd)|\bmkfs\S*\s[^\n]*/dev/(?:sd|nvme|vd|xvd)|:\(\)\s*\{\s*:\s*\||\b(?:shred|wipefs)\s[^\n]*/dev/`), nil, nil},
	{Attacks, "scans the network", true, []string{"nmap", "masscan", "zmap", "kube-hunter", "peirates", "linpeas", "deepce", "cdk "}, expr(begin + `(?:nmap|masscan|zmap|rustscan)\s|kube-hunter|peirates|linpeas|\bdeepce\b|\bamicontained\b|\bmimikatz\b|\bmeterpreter\b|\bmsfvenom\b|\bcobaltstrike\b`), nil, nil},
}

// metadata adds a sign for the address of a metadata service, except in no_proxy lists
// and in ranges of addresses.
func (r *reading) metadata(text, lower string) {
	add := func(from, to int) {
		r.add(Sign{Family: Attacks, What: "asks the metadata service of the cloud", Excerpt: excerptAt(text, from, to), Strong: true})
	}
	for _, name := range metadataLiterals {
		if at := indexAddress(lower, name); at >= 0 {
			add(at, at+len(name))
			return
		}
	}
	for from := 0; from < len(text); from++ {
		c := text[from]
		if c != '[' && (c < '0' || c > '9') || from > 0 && !strings.ContainsRune(" \t\n\"'/@=", rune(text[from-1])) {
			continue
		}
		to := from
		for to < len(text) && strings.IndexByte("0123456789abcdefx.:[]", lower[to]) >= 0 {
			to++
		}
		if to-from >= minAddress && Metadata(text[from:to]) && !excluded(text, from, to) {
			add(from, to)
			return
		}
		from = max(from, to-1)
	}
}

// minAddress is the length below which a word is not parsed as an address.
const minAddress = 6

// metadataLiterals are texts that show access to a metadata service wherever they
// occur.
var metadataLiterals = []string{"169.254.169.254", "169.254.170.2", "metadata.google.internal", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "169-254-169-254", "computemetadata/v1", "latest/meta-data"}

// indexAddress returns the offset of an address that is not part of a longer one, -1 if
// there is none.
func indexAddress(lower, address string) int {
	for from := 0; from < len(lower); {
		at := strings.Index(lower[from:], address)
		if at < 0 {
			return -1
		}
		at += from
		from = at + len(address)
		before := at > 0 && strings.ContainsRune("0123456789.", rune(lower[at-1]))
		after := from < len(lower) && lower[from] >= '0' && lower[from] <= '9'
		if !before && !after && !excluded(lower, at, from) {
			return at
		}
	}
	return -1
}

// excluded reports whether the address at from is in a no_proxy list, or is a range of
// addresses as a NetworkPolicy has it.
func excluded(text string, from, to int) bool {
	start := strings.LastIndexByte(text[:from], '\n') + 1
	if strings.Contains(strings.ToLower(text[max(start, from-4000):from]), "no_proxy") || strings.Contains(strings.ToLower(text[max(start, from-4000):from]), "no-proxy") {
		return true
	}
	rest := text[to:]
	return len(rest) > 1 && rest[0] == '/' && rest[1] >= '0' && rest[1] <= '9'
}

var switches = []pattern{
	{Unchecks, "skips the check of certificates", false, []string{"insecure", "-k", "no-check-certificate", "verify", "trusted-host", "unverified", "reject_unauthorized", "rejectunauthorized", "stricthostkey"}, expr(`\bcurl\s(?:[^\n;|]*\s)?(?:-\w*k\w*\s|--insecure\b|--proxy-insecure\b)[^\n;|]*|--no-check-certificate\b|ssl_?no_?verify\b[= ]*(?:true|1|yes)?|--trusted-host\b|(?:^|[\s,(])verify\s*=\s*false\b|_create_unverified_context|NODE_TLS_REJECT_UNAUTHORIZED[= ]*["']?0|rejectunauthorized["']?\s*:\s*false|stricthostkeychecking[= ]+(?:no|off)\b|http\.sslverify[= ]+["']?(?:false|0)|PYTHONHTTPSVERIFY=0|-skipcertificatecheck`), nil, notToCluster},
	{Unchecks, "skips the check of signatures", false, []string{"allow-untrusted", "nogpgcheck", "no-gpg", "unauthenticated", "nosumdb", "gonosum", "insecure-repositories", "force-yes"}, expr(`--allow-untrusted\b|--no-?gpg-?checks?\b|--allow-unauthenticated\b|--force-yes\b|--allow-insecure-repositories\b|\bGO(?:NOSUMDB|NOSUMCHECK|INSECURE|FLAGS=-insecure|SUMDB=off)\b`), nil, nil},
}

// notToCluster returns false for a match that names only the pod itself (loopback). It
// sets Outside where the host is outside the cluster.
func notToCluster(text string, at []int, s *Sign) bool {
	hosts := hostsOf(text[at[0]:at[1]])
	for _, host := range hosts {
		if !Loopback(host) {
			s.Outside = s.Outside || !Inside(host)
			return true
		}
	}
	return len(hosts) == 0
}

// uncheckedFlag matches arguments that switch off authentication, authorization or
// checks of certificates, such as --insecure-skip-tls-verify.
var uncheckedFlag = lazyregexp.New(`(?i)^--?(?:` +
	`(?:insecure-skip-tls-verify|insecure-skip-verify|insecure-skip-tls-verify-backend|tls-skip-verify|tls-insecure-skip-verify|skip-tls-verify|skip-verify|tls-insecure|kubelet-insecure-tls|anonymous-auth|disable-auth|disable-authentication|disable-authorization|no-auth|no-authentication|without-auth|insecure|allow-insecure|insecure-registry|enable-skip-login|enable-insecure-login|disable-tls|no-tls|authentication-skip-lookup|authorization-always-allow|allow-privileged-escalation|dangerously\S*|unsafe\S*)(?:[= ](?:true|1|t|yes|all|\*|[\w.:/-]+))?|` +
	`authorization-mode[= ]\S*alwaysallow\S*|(?:enable-)?admission-(?:control|plugins)[= ]\S*alwaysadmit\S*|disable-admission-plugins[= ]\S+|insecure-port[= ][1-9]\d*|insecure-bind-address[= ]\S+|read-only-port[= ][1-9]\d*|` +
	`auth(?:-mode|entication|-type)?[= ](?:none|disabled|off|false|insecure|noauth)|service-account-lookup[= ]false|tls-?verify[= ](?:false|0|no)|verify-?tls[= ](?:false|0|no)|client-cert-auth[= ]false|authentication-token-webhook[= ]false|protect-kernel-defaults[= ]false|rotate-certificates[= ]false|seccomp-default[= ]false` +
	`)$`)

// offFlag matches arguments with a value that means no, such as --NAME=false.
var offFlag = lazyregexp.New(`(?i)^--?[\w-]+[= ](?:false|0|f|no|off)$`)

// negative matches arguments for which the value no, and not yes, switches a check off.
var negative = lazyregexp.New(`(?i)^--?(?:auth|service-account-lookup|tls-?verify|verify-?tls|client-cert-auth|authentication-token-webhook|protect-kernel-defaults|rotate-certificates|seccomp-default)`)

// words adds a sign for each argument of a command that switches a check off. The value
// of an argument may be the next word, as in "--flag false".
func (r *reading) words(words []string) {
	for i, word := range words {
		forms := []string{word}
		if i+1 < len(words) && !strings.Contains(word, "=") && !strings.HasPrefix(words[i+1], "-") {
			forms = []string{word + " " + words[i+1], word}
		}
		for at, form := range forms {
			off := offFlag.MatchString(form) && !negative.MatchString(form)
			if off && at == 0 && len(forms) > 1 {
				break // --flag false
			}
			if !off && len(form) < 4*maxExcerpt && uncheckedFlag.MatchString(form) {
				r.add(Sign{Family: Unchecks, What: "passes " + Excerpt(form)})
				break
			}
		}
	}
}

// notOnlyAddress returns whether a text is more than an address, such as that of the
// cluster in the destination of an Application of Argo CD or in a variable.
func notOnlyAddress(text string, _ []int, _ *Sign) bool {
	return strings.ContainsAny(strings.TrimSpace(text), " \t\n\"'`(|;")
}
