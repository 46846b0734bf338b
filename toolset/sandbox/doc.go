// Package sandbox starts processes that can reach what their policy grants and nothing
// else, and that have all ended when they should: with the call, with the turn, and with
// fettle itself, however it ends. It is a [toolset.Launcher].
//
// It is containment, not safety: a fault in the kernel defeats all of it. It does not
// depend on Python, MCP or tools, decides no policy, and does not prompt the user.
//
// # How a process is started
//
// fettle starts its own program again as the supervisor; whatever program links this package
// can be one, tests included (see package supervisor). The supervisor gets the policy over a
// socket, builds the sandbox around itself, starts the process in it, and stays: it is the
// parent of all that the process leaves behind, forwards signals, watches limits, and ends
// everything when the process ends, when fettle requests it, or when the socket closes, as
// it does when fettle is killed.
//
// # The levels
//
// Full, on Linux: user, pid, network, ipc and mount namespaces; a separate root that
// contains what the policy grants, the system's programs read-only, a few devices, fresh
// /proc, /tmp and /dev/shm; seccomp; Landlock where there is one, as a second wall; no
// capabilities, no new privileges. The supervisor is process 1 of its pid namespace, so that
// the kernel ends all with it.
//
// Reduced, on Linux without user namespaces: Landlock from version 3 on, and
// seccomp. A tool can see that files exist elsewhere, and change their
// permissions and times; [Report] lists what is open. The supervisor is a
// subreaper, and ends all by stopping first and killing then.
//
// None: no containment. Linux keeps the subreaper, limits and what else there
// is; Windows has a job object, which ends all processes with the supervisor;
// macOS has a process group and the tree of descendants, so that a process
// which leaves both lives on. Why not sandbox-exec there: a profile that
// denies by default is only worth something where it was run.
//
// A launcher begins at the top and steps down when the machine refuses, never
// below the policy's Least, and remembers what was refused. Nothing is tried
// before the first process needs it, [Launcher.Report] aside.
//
// # Layers
//
// A process whose policy sets Layer sees its workspace through an overlay: the workspace is
// the lower layer, and is never written. The supervisor mounts it in its user namespace with
// userxattr and volatile, while it has the capability to override permissions of files; what
// it starts has none. The layers have no name in the sandbox. What is sealed is mounted on top
// of the overlay, read-only, and so is what a policy's layer lets through, writable. When Wait
// has returned no process is left that could write to the upper layer, by a mapping either.
// An overlay that can't be mounted is a [toolset.LayerError]; it never lowers the level.
// [Launcher.Layers] finds out beforehand, once for each pair of file systems. Growth of the
// workspace and free disk are measured at the upper layer.
//
// # Ports
//
// A process whose policy sets Serves has the loopback of its network, where it may listen.
// At full no other process is in that network; [toolset.Reacher] connects to it from
// outside: the supervisor makes the connection and hands the socket over. The supervisor can also
// pause all processes of a sandbox for a while.
//
// # Limits
//
// By the kernel: data of a process, open files, size of a file, number of
// processes and threads, size of /tmp. As real root the number of processes is
// bounded by the pid namespace where the kernel is 6.14 or later. By the
// supervisor, every tenth of a second: processes of all together, and memory, shared memory
// and temporary files included. By the launcher: time, growth of the workspace, free disk.
//
// Where a folder of control groups is delegated to fettle ([Options.Cgroups]; systemd's
// Delegate=yes with DelegateSubgroup=), each process also gets a group with a limit of
// memory and of processes, which the kernel enforces at every moment.
//
// # Gaps
//
// What a tool can do at each level though its policy does not grant it. [Report] lists those
// that hold on a machine, and the command doctor prints them.
//
// At full:
//   - tools can see which other programs run (where the kernel gives no fresh /proc, as in
//     many containers)
//   - a repository that a tool adds deeper in your own folder is there until its call ends
//   - memory that processes share is counted ten times a second, so that more can be used
//     for that long (without control groups)
//   - files in the workspace are counted ten times a second, so that more can be written for
//     that long
//
// At reduced, in addition:
//   - tools can see that files exist and change permissions of your files outside the
//     workspace
//   - tools have the network whole or not at all
//   - tools can change the .git of your own folder; what git runs of it is restored after
//     each call
//   - a .git that a tool removes or moves as a whole is reported and not restored
//   - tools can send signals to your other programs, and so outlive their call (with a
//     Landlock older than version 6)
//
// At none:
//   - tools can reach all that you can, your other programs included; what doesn't resist
//     ends with its call
//   - nothing keeps tools from fettle's own data, configuration and keys
//   - a tool can set the set-user-id bit of files where the kernel has no seccomp
//   - a tool's process that leaves its group and its parent at once lives on (outside of
//     Linux and Windows)
//
// # Vocabulary
//
//   - Supervisor: the process between fettle and the tool.
//   - Lack: what a machine refuses, by which a level is out of reach.
//   - Grant: a path that the policy lets a tool reach.
//
// # Concurrency
//
// A [Launcher] and its processes are safe for concurrent use. Each process has its own
// goroutines, which end before its Wait returns; [Launcher.Close] ends every process and
// waits. Every wait on a supervisor is bounded.
package sandbox
