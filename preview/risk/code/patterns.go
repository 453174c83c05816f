package code

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// pattern is an expression that is searched for, with the sign for a match.
type pattern struct {
	family  Family
	what    string
	strong  bool
	anchors []string // in lower case; lines without any of them are not compared with re
	re      *lazyregexp.Regexp
	// then must match too, after the match of re; nil for no such condition.
	then *lazyregexp.Regexp
	// check returns whether a match counts, and may complete the sign; nil if every
	// match counts. at holds the offsets of the match.
	check func(text string, at []int, s *Sign) bool
}

// Parts of which the expressions of patterns are put together.
const (
	begin     = `(?:^|[\s;&|('"` + "`" + `{=/])`
	directory = `(?:(?:/[\w.-]+)*/)?`
	shell     = `(?:sudo\s+(?:-\S+\s+)*)?(?:exec\s+)?` + directory + `(?:env\s+)?(?:(?:ba|da|z|k|a|c|tc|fi)?sh|busybox\s+sh|python[0-9.]*|perl|ruby|node|php|lua|pwsh|powershell(?:\.exe)?|iex|invoke-expression|source)`
	stdin     = `(?:\s+-(?:[a-z]*s\b[^\n]*|\s|[elux]+\b|$))?\s*(?:$|[\n;&|)"'` + "`" + `}#\\]|\d?>)`
	fetch     = `(?:curl(?:\.exe)?|wget2?|fetch|aria2c|lynx|w3m|axel|iwr|irm|invoke-webrequest|invoke-restmethod|certutil|bitsadmin|t?ftp|scp|aws\s+s3\s+cp|gsutil\s+cp|gh\s+api|ncat|nc|socat|openssl\s+s_client)`
	decoder   = `(?:base(?:64|32)|basenc|openssl\s+(?:enc|base64|aes\S*)|xxd|uudecode|gunzip|zcat|gzip\s+-d|bunzip2|unxz|zstd\s+-d|rev|tr\s|printf\s+\S*\\|echo\s+-\w*e|gpg|hexdump|od\s)`
	someURL   = `(?:https?|ftp|git|ssh)://`
)

var fetchAnchors = []string{"curl", "wget", "fetch", "aria2c", "lynx", "w3m", "axel", "iwr", "irm", "invoke-", "certutil", "bitsadmin", "ftp ", "scp ", "s3 cp", "gsutil", "gh api", "nc ", "ncat", "socat", "s_client"}

func expr(text string) *lazyregexp.Regexp { return lazyregexp.New(`(?im)` + text) }

// patterns are all patterns that are searched for. They are never modified.
var patterns = append(append(append(append([]pattern{}, fetching...), shells...), reaching...), switches...)

var fetching = []pattern{
	{Fetches, "downloads into a shell", true, fetchAnchors, expr(begin + fetch + `\b[^\n]*\|[\s({]*&?\s*` + shell + stdin), nil, nil},
	{Fetches, "downloads into a shell", true, []string{"<("}, expr(`(?:` + shell + `|\.)\s+(?:-\S+\s+)*<\(\s*` + fetch + `\b`), nil, nil},
	{Fetches, "downloads code and runs it", true, fetchAnchors, expr(`(?:\beval|\bexec|\bsource|` + shell + `\s+-\w*[ce])\s*\(?["']?\s*(?:\$\(|` + "`" + `)\s*` + fetch + `\b`), nil, nil},
	{Fetches, "downloads code and runs it", true, []string{"downloadstring", "downloadfile", "iex", "invoke-expression"}, expr(`downloadstring\(|downloadfile\(|\b(?:iex|invoke-expression)\b[^\n]*(?:iwr|irm|http|webclient)`), nil, nil},
	{Fetches, "downloads a program and runs it", true, fetchAnchors, expr(begin + fetch + `\b[^\n;&|]*`), expr(`\bchmod\s+(?:-\S+\s+)*(?:[ugoa]*\+\w*x|0?[0-7]?[1357][0-7]{2})\b`), named},
	{Fetches, "downloads a program and runs it", true, []string{"curl", "wget", "aria2c", "fetch"}, expr(begin + `(?:curl|wget|aria2c|fetch)\s[^\n;&|]*`), expr(`[\s;&|]` + shell + `\s+(?:-\S+\s+)*["']?(?:/tmp|/var/tmp|/dev/shm|\./)\S*`), named},
	{Fetches, "downloads code and runs it", true, []string{"urlopen", "requests", "urllib", "http"}, expr(`\b(?:exec|eval|compile|execfile|__import__)\s*\([^\n]*(?:urlopen|requests\.get|http\.client|urlretrieve)|(?:urlopen|requests\.get)\([^\n]*(?:exec|eval|os\.system|subprocess)`), nil, nil},
	{Fetches, "downloads code and runs it", true, []string{"lwp", "open-uri", "net::http", "file_get_contents", "https.get", "http.get", "fetch("}, expr(`(?:lwp::simple|open-uri|net::http|file_get_contents\(\s*["']https?|https?\.get\(|fetch\()[^\n]*(?:eval|exec|system|child_process|instance_eval)|eval[^\n]*(?:lwp::simple|open-uri|net::http|file_get_contents\(\s*["']https?|https?\.get\(|fetch\()`), nil, nil},
	{Fetches, "downloads manifests and applies them", true, []string{"kubectl", "oc ", "kustomize"}, expr(`\b(?:kubectl|oc|kustomize)\b[^\n;|&]*\s(?:-f|-k|--filename|--kustomize|build)[= ]*["']?(?:` + someURL + `|github\.com/)`), nil, nil},
	{Fetches, "downloads manifests and applies them", true, fetchAnchors, expr(begin + fetch + `\b[^\n]*\|\s*(?:kubectl|oc)\s+\S*\s*(?:apply|create|replace)`), nil, nil},
	{Fetches, "downloads packages from a server of its own", true, []string{"pip", "uv ", "conda"}, expr(`\bpip[0-9.]*\s+(?:\S+\s+)*?(?:install|download)\b[^\n]*(?:git\+|https?://|--(?:extra-)?index-url|\s-i\s|--find-links|\s-f\s)`), nil, nil},
	{Fetches, "downloads packages from a server of its own", true, []string{"apk", "apt", "dnf", "yum", "rpm", "dpkg", "gem", "npm"}, expr(`\bapk\s[^\n]*(?:-X|--repository)[= ]*\S|\b(?:rpm|dnf|yum|zypper|tdnf|microdnf)\s[^\n]*(?:https?://|--repofrompath)|\bapt-add-repository\b|\badd-apt-repository\b|>+\s*/etc/apt/sources|\bgem\s+install\b[^\n]*(?:--source|https?://)|\bnpm\s[^\n]*(?:--registry|https?://|git\+)`), nil, nil},
	{Fetches, "downloads code and runs it", true, []string{"go ", "deno", "npx", "uvx", "java", "wasm"}, expr(`\bgo\s+(?:run|install)\s+(?:-\S+\s+)*["']?[\w-]+\.[\w.-]+/|\bdeno\s+run\b[^\n]*https?://|\b(?:npx|uvx|bunx|pnpm\s+dlx|yarn\s+dlx|pipx\s+run)\s+(?:-\S+\s+)*["']?[@\w]|\bjava\b[^\n]*-jar\s+https?://`), nil, nil},
	{Fetches, "downloads images and starts containers", true, []string{"docker", "podman", "nerdctl", "ctr", "crictl"}, expr(begin + `(?:docker|podman|nerdctl|crictl|ctr)\s+(?:-\S+\s+(?:[^-\s]\S*\s+)?)*(?:container\s+|image\s+|images\s+)?(?:run|exec|create|runp|pull)\s`), nil, nil},
	{Fetches, "downloads a chart", true, []string{"helm"}, expr(begin + `helm3?\s+(?:-\S+\s+)*(?:install|upgrade|pull|template)\b[^\n]*(?:oci://|https?://|--repo)|` + begin + `helm3?\s+repo\s+add\b`), nil, nil},
	{Fetches, "downloads packages", false, []string{"install", "apk", "npm", "yarn", "cargo"}, expr(begin + `(?:pip[0-9.]*|python[0-9.]*\s+-m\s+pip|apt|apt-get|dnf|yum|microdnf|tdnf|zypper|apk|npm|yarn|pnpm|gem|cargo|conda|brew|snap|composer|go|pipx|uv)\s+(?:-\S+\s+)*(?:install|add|ci|i|in)(?:\s|$)`), nil, nil},
	{Fetches, "downloads a repository", false, []string{"clone", "checkout"}, expr(begin + `(?:git\s+(?:-\S+\s+\S+\s+)*clone|hg\s+clone|svn\s+(?:co|checkout)|gh\s+repo\s+clone)\b`), nil, nil},
	{Fetches, "downloads an archive and unpacks it", false, fetchAnchors, expr(begin + fetch + `\b[^\n]*\|[^\n]*\b(?:tar|bsdtar|cpio|unzip|gunzip)\b`), nil, named},
	{Fetches, "downloads", false, []string{"curl", "wget", "aria2c", "invoke-webrequest", "iwr"}, expr(begin + `(?:curl(?:\.exe)?|wget2?|aria2c|iwr|invoke-webrequest)\s[^\n]*`), nil, download},
	{Fetches, "downloads", false, []string{"urlopen", "requests.", "urlretrieve"}, expr(`(?:urlopen|urlretrieve|requests\.(?:get|post))\(\s*f?["'][^"'\n]*`), nil, download},
	{Hides, "runs what it decodes", true, []string{"|", "64", "xxd", "zcat"}, expr(begin + decoder + `[^\n]*\|[\s({]*` + shell + stdin), nil, nil},
	{Hides, "runs what it decodes", true, []string{"eval", "-c", "<("}, expr(`(?:\beval|` + shell + `\s+-\w*[ce])\s*["']?\s*(?:\$\(|` + "`" + `)[^)` + "`" + `\n]*` + decoder + `|(?:` + shell + `|\.)\s+<\([^)\n]*` + decoder), nil, nil},
	{Hides, "runs what it decodes", true, []string{"exec", "eval", "loads", "-enc", "fromhex", "decode"}, expr(`\b(?:exec|eval|execfile|instance_eval|assert|loadstring|load)\s*\(?[^\n]*(?:b64decode|b32decode|a85decode|unhexlify|fromhex|decompress|codecs\.decode|base64_decode|gzinflate|str_rot13|hex2bin|atob|decode64|unpack\s*\(?\s*["'](?:m|h)|["']base64["']|["']hex["']|marshal\.loads|fromcharcode|chr\(\d+\)[.+]\s*chr)`), nil, nil},
	{Hides, "runs what it decodes", true, []string{"-e", "frombase64"}, expr(`(?:powershell(?:\.exe)?|pwsh)\b[^\n]*\s-e(?:nc?|ncodedcommand)?\s+[a-z0-9+/=]{16,}|frombase64string\(`), nil, nil},
	{Hides, "puts words together from single characters", true, []string{"${"}, expr(`(?:\$\{\w+:\d+:\d+\}\S{0,2}){3,}`), nil, nil},
	{Hides, "names a program by wildcards", true, []string{"?"}, expr(`(?:^|[;&|(]\s*|-c\s+["']?)/[a-z/]*[?][a-z?*/\[\]]*(?:\s|$)`), nil, nil},
	{Hides, "pipes text into a shell", false, []string{"|"}, expr(`[^|\n]\|[\s({]*(?:sudo\s+)?` + directory + `(?:ba|da|z|k|a)?sh` + stdin), nil, nil},
}

var shells = []pattern{
	{Attacks, "opens a reverse shell to another host", true, []string{"/dev/tcp/", "/dev/udp/"}, expr(`\bsh\s+-\w*i[^\n]*/dev/(?:tcp|udp)/|\b(?:ba|da|z|k|a)sh\s+-\w*i[^\n]*/dev/(?:tcp|udp)/|/dev/(?:tcp|udp)/\S+[^\n]*(?:0>&1|0<&1|\|\s*` + shell + stdin + `)|` + shell + `\s+(?:0?<|[0-9&]*>&?)\s*/dev/(?:tcp|udp)/`), nil, nil},
	{Attacks, "opens a reverse shell to another host", true, []string{"/dev/tcp/", "/dev/udp/"}, expr(`exec\s+\{?\w+\}?<>\s*/dev/(?:tcp|udp)/[^\s;&|]+`), expr(`\bread\b|\bsh\b|eval`), outsideSocket},
	{Attacks, "connects to another host", false, []string{"/dev/tcp/", "/dev/udp/"}, expr(`/dev/(?:tcp|udp)/[^\s;&|]+`), nil, outsideSocket},
	{Attacks, "opens a reverse shell to another host", true, []string{"nc ", "ncat", "netcat", "nc."}, expr(begin + `(?:nc|ncat|netcat|nc\.traditional|nc\.openbsd|busybox\s+nc)\b[^\n]*(?:\s-\w*e\w*\s|\s-\w*c\w*\s+\S*sh\b|--(?:sh-)?exec)`), nil, nil},
	{Attacks, "opens a reverse shell to another host", true, []string{"mkfifo", "mknod"}, expr(`\bmk(?:fifo|nod)\b`), expr(`\b(?:nc|ncat|netcat|telnet|openssl\s+s_client|socat)\b`), nil},
	{Attacks, "opens a reverse shell to another host", true, []string{"socat"}, expr(`\bsocat\b[^\n]*\b(?:exec|system):|\b(?:exec|system):[^\n]*\bsocat\b`), nil, nil},
	{Attacks, "opens a reverse shell to another host", true, []string{"telnet", "s_client"}, expr(`\b(?:telnet|openssl\s+s_client)\b[^\n]*\|\s*` + shell + `|` + shell + `[^\n]*\|\s*(?:telnet|openssl\s+s_client)\b`), nil, nil},
	{Attacks, "opens a reverse shell to another host", true, []string{"socket", "pty", "fsockopen", "tcpsocket", "net.connect", "net.socket", "inet", "tcpclient", "net.dial"}, expr(`pty\.spawn\(|fsockopen[^\n]*(?:exec|proc_open|system)|(?:exec|proc_open|system)[^\n]*fsockopen|tcpsocket[^\n]*(?:exec|spawn|/bin/)|/inet/tcp/|io::socket[^\n]*(?:exec|open\s*\(?\s*std)|net\.sockets\.tcpclient|net\.dial\([^\n]*exec\.command`), nil, nil},
	{Attacks, "opens a reverse shell to another host", true, []string{"socket", "net.connect", "child_process"}, expr(`\bsocket\.(?:socket|create_connection)|\bs(?:ocket)?\.connect\(|net\.(?:connect|socket)|child_process`), expr(`subprocess|pty\.spawn|os\.dup2|/bin/(?:ba)?sh|net\.(?:connect|socket)|net\.createconnection|["']net["']|exec\(|spawn\(`), nil},
	{Attacks, "opens a reverse shell to another host", true, []string{"socket"}, expr(`\buse\s+(?:io::)?socket\b|\bsockaddr_in\(|require\s*\(?["']socket`), expr(`\bexec\b|\bsystem\b|\bio\.popen|\bos\.execute|/bin/(?:ba|da|z|k|a)?sh`), nil},
	{Attacks, "lets other hosts log in", true, []string{"telnetd", "sshd", "dropbear", "tinysshd", "ttyd", "gotty", "shellinabox", "wetty", "rlogind", "in.rshd"}, expr(begin + directory + `(?:busybox\s+)?(?:(?:u?telnetd|sshd|dropbear|tinysshd|ttyd|gotty|shellinaboxd|wetty)(?:\s|$)|in\.(?:telnet|rlogin|rsh)d)`), nil, nil},
	{Attacks, "opens a tunnel to another host", true, []string{"ssh", "chisel", "frpc", "ligolo", "gs-netcat", "ngrok", "localtunnel", "bore ", "rathole", "gost"}, expr(begin + `(?:auto)?ssh\s(?:[^\n]*\s)?-\w*[RDLw]\s*\S|\bchisel\s+client\b|\bfrpc\b\s+-|\bligolo\b|\bgs-netcat\b|\bngrok\s+(?:tcp|http|tunnel|start)\b|\brathole\b\s+\S*client`), nil, nil},
	{Attacks, "mines cryptocurrency", true, []string{"xmrig", "minerd", "cpuminer", "stratum", "donate-level", "miner", "nicehash", "supportxmr", "nanopool", "hashvault", "moneroocean", "2miners", "kinsing", "kdevtmpfsi", "randomx", "cryptonight", "coin=monero", "rx/0", "f2pool"}, expr(`\bxmrig\b|\bminerd\b|\bcpuminer\b|stratum\d?\+(?:tcp|ssl|tls)|--donate-level|\b(?:eth|cg|bfg|lol|nb|phoenix|t-rex|claymore|srb|team-?red)-?miner\b|nicehash|minexmr|supportxmr|nanopool\.org|hashvault|moneroocean|2miners\.com|f2pool|kinsing|kdevtmpfsi|--algo[= ]\S*(?:randomx|cryptonight|rx/)|\brandomx\b|cryptonight|--coin[= ]monero|\brx/0\b`), nil, nil},
	{Attacks, "sends files or output away", true, []string{"curl", "wget"}, expr(begin + `(?:curl\b[^\n]*\s(?:--data(?:-binary|-raw|-urlencode|-ascii)?|-d|-F|--form|-T|--upload-file|--json)[= ]*["']?(?:[^\s"']*@|[^\s"']*\$\(|[^\s"']*` + "`" + `|/|\.|-\s)[^\n]*|wget\b[^\n]*--(?:post|body)-(?:file|data)[^\n]*)`), nil, leavesCluster},
	{Attacks, "sends files or output away", true, []string{"curl", "wget"}, expr(begin + `(?:curl|wget)\s[^\n]*https?://[^\s"']*(?:\$\(|` + "`" + `|\$\{?(?:AWS_SECRET|TOKEN|KUBE|SECRET))[^\n]*`), nil, leavesCluster},
	{Attacks, "sends files or output away", true, []string{"dig", "nslookup", "host ", "ping"}, expr(begin + `(?:dig|nslookup|host|ping)\s[^\n;|]*(?:\$\(|` + "`" + `)[^\n]*\.[a-z]{2,}`), nil, nil},
	{Attacks, "sends files or output away", true, []string{"env", "cat", "tar", "printenv"}, expr(begin + `(?:env|printenv|set|cat|tar|find|getent)\b[^\n]*\|\s*(?:nc|ncat|netcat|telnet|socat|curl|ssh)\b[^\n]*`), nil, leavesCluster},
}

// named sets Outside in a sign whose match names a host outside the cluster. It returns
// false if the match names only hosts of the cluster.
func named(text string, at []int, s *Sign) bool {
	hosts := hostsOf(text[at[0]:at[1]])
	for _, host := range hosts {
		if !Inside(host) {
			s.Outside = true
			return true
		}
	}
	return len(hosts) == 0
}

// download completes the sign of a plain download with its host. It returns false for a
// download from the cluster.
func download(text string, at []int, s *Sign) bool {
	if !named(text, at, s) {
		return false
	}
	s.What = "downloads from an address that is not stated"
	for _, host := range hostsOf(text[at[0]:at[1]]) {
		if !Inside(host) {
			s.What = "downloads from " + Excerpt(host)
			break
		}
	}
	return true
}

// leavesCluster returns whether a match names a host outside the cluster or a metadata
// service, or no host at all.
func leavesCluster(text string, at []int, s *Sign) bool {
	line := text[at[0]:at[1]]
	for _, host := range hostsOf(line) {
		if !Inside(host) || Metadata(host) {
			s.Outside = true
			return true
		}
	}
	return len(hostsOf(line)) == 0 && !strings.Contains(line, "://")
}

// outsideSocket returns whether a match of /dev/tcp/HOST/PORT, a shell's socket, names
// a host outside the cluster.
func outsideSocket(text string, at []int, s *Sign) bool {
	_, host, _ := strings.Cut(text[at[0]:at[1]], "/dev/")
	parts := strings.Split(host, "/")
	if len(parts) < 2 || strings.Contains(parts[1], "$") {
		return false
	}
	s.Outside = !Inside(parts[1])
	return s.Outside
}

// maxHosts is the most hosts of one match that are judged.
const maxHosts = 200

var urlHost = lazyregexp.New(`(?i)\b(?:https?|ftp|git|ssh|wss?)://([^\s"'<>|;&)` + "`" + `]+)|\bgit@([\w.-]+):`)

// wordHost matches a host without a scheme, which curl accepts too.
var wordHost = lazyregexp.New(`(?i)(?:^|\s|["'])((?:[\w-]+\.)+[a-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?(?:/[^\s"']*)?(?:["']|\s|$)`)

// hostsOf returns the hosts of the URLs in a text; if it has no URL, the words that
// look like hosts. Variables in place of a host are left out.
func hostsOf(text string) []string {
	var out []string
	for _, m := range urlHost.FindAllStringSubmatch(text, maxHosts) {
		host := Host(m[1] + m[2])
		if host != "" && !strings.ContainsAny(host, "$({%") {
			out = append(out, host)
		}
	}
	if len(out) == 0 && !strings.Contains(text, "://") {
		for _, m := range wordHost.FindAllStringSubmatch(text, maxHosts) {
			if !fileName(m[1]) {
				out = append(out, Host(m[1]))
			}
		}
	}
	return out
}

// fileName reports whether a word with a dot ends like a file name, and so is not a
// host.
func fileName(word string) bool {
	for _, suffix := range []string{".sh", ".py", ".json", ".yaml", ".yml", ".gz", ".tgz", ".zip", ".tar", ".txt", ".crt", ".pem", ".key", ".log", ".conf", ".bin", ".so", ".exe", ".html"} {
		if strings.HasSuffix(word, suffix) {
			return true
		}
	}
	return false
}
