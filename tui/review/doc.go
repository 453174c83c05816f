// Package review is the screen that shows a plan and asks for approval. [Run]
// returns an [Outcome], so that approval is a value which the caller receives
// and acts on; [RunPlain] is the same in lines of text.
//
// What the tabs show is made by package tabs: adding one is a type and a row there.
//
// # States
//
// What a review does, from resolving to its outcome. Rows that are not there do
// nothing; any other message changes only what is shown. A signal, a panic and a
// terminal that is gone end the program with an error, from every state.
//
//	state    what happens                                   leads to
//	RESOLVE  the plan is made                               REVIEW
//	RESOLVE  no plan can be made, the first time            Failed
//	RESOLVE  no plan can be made, esc, when there is one    REVIEW of that one
//	RESOLVE  q, ctrl+c                                      Quit
//	RESOLVE  the plan is made that was refused after Approved  REVIEW, saying why
//	REVIEW   an object the plan depends on changed          REVIEW, stale; back when it is as it was
//	REVIEW   R; a when the plan is stale                    RESOLVE, the plan stays until another is there
//	REVIEW   a with critical findings left                  REVIEW, the next of them
//	REVIEW   a when the gate would refuse; read-only        REVIEW, saying why
//	REVIEW   a otherwise                                    CONFIRM, which reads the cluster again
//	REVIEW   q, ctrl+c                                      Quit
//	CONFIRM  the cluster answers with the same digest       CONFIRM, the answer can be typed
//	CONFIRM  the cluster answers with another one           REVIEW of that plan, marks kept by evidence
//	CONFIRM  the cluster does not answer                    CONFIRM, r asks again
//	CONFIRM  an object the plan depends on changed          REVIEW, stale
//	CONFIRM  esc                                            REVIEW
//	CONFIRM  ctrl+c; n where y is the answer                Declined
//	CONFIRM  the answer and enter, after the same digest    Approved, of that digest
//
// Answers of the cluster carry the round they belong to: what comes late, or
// again, is dropped. [RunPlain] has the same states without a screen; there the
// end of the input is Quit, and Declined at the question.
package review
