// Output of scripts/protocols; see protocols/.
