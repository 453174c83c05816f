// Package tui opens the screens: [Pick] chooses a package, [Review] shows a plan and
// asks for approval, [Follow] shows an apply until its result. They are three programs
// in their own packages, and none of them knows another:
//
//	frame     header, footer, keys, layout, progress: what all screens have in common
//	diffview  the exact text of an object, and how it would change
//	pick, follow, review
//	theme, widget
//
// Each program has one tea.Model. Its Update is a switch of one-line arms,
// performs no I/O and leaves waiting to commands. Anything from outside becomes
// text through [github.com/kubectl-operator/kubectl-operator/tui/widget.Text],
// which makes it harmless.
package tui
