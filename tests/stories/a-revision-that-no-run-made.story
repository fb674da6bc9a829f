# A revision that no run had to do with is told apart from one that is not there, and from wrong use.

worker w-weu westeurope
cluster alpha westeurope
run
file README.md
  hello
$ carp explain cluster/alpha --at main
    no output commit was made from <id>, so it is shown with the output branch, the reports and the time of now
    cluster/alpha: bound to w-weu, and stays there
    policy: default (built-in)
    data store: default

    WORKER   SOFT   PREFERRED   DISTANCE   SHARE USED   CLUSTERS
    w-weu    0      0           0          25%          0

$ carp explain cluster/alpha --at nowhere
    error: `nowhere` names no commit here: revspec 'nowhere' not found
    exit 1

$ carp explain cluster/alpha --at carp/status
    error: `carp/status` is no commit of this fleet: it has no carp.yaml that can be read, and its message names no input that carp made it from
    exit 1

$ carp explain cluster/alpha --at main --fleet .@main
    error: `@main` names a revision, and another one is looked at; name the folder alone
    exit 64

$ carp explain cluster/alpha --at main --observed .
    error: the argument '--at <REV>' cannot be used with '--observed <DIR>'

    Usage: carp explain --at <REV> <KIND/NAME>...

    For more information, try '--help'.
    exit 64
