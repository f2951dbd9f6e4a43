"""Statements at the top of the code that fail here, hang here, or change something for the whole process."""

from tests.support.deformations import deformation, takes_time
from tests.support.editable_submission import HandIn, as_notebook, parsed


@deformation
def imports_that_are_not_installed(work: HandIn) -> HandIn:
    """Libraries for logging and tokenising are imported at the top and used nowhere that matters."""
    return work.begun_with(
        "import os, sys, wandb_of_the_course\nimport sentencepiece_of_the_course as spm\n"
        "from datasets_of_the_course import load_dataset, DatasetDict\nwandb_of_the_course.init(project='hw1')"
    )


@deformation
def imports_in_one_line(work: HandIn) -> HandIn | None:
    """All imports are in one statement, and the first of them is not installed."""

    def in_one_line(piece: str) -> str:
        tree = parsed(piece)
        lines = piece.splitlines()
        found = [line for line in lines if line.startswith("import ") and ";" not in line and "\\" not in line]
        if tree is None or not found:
            return piece
        names = ", ".join(line.partition("#")[0].removeprefix("import ").strip() for line in found)
        lines[lines.index(found[0])] = f"import wandb_of_the_course, {names}"
        return "\n".join(line for line in lines if line not in found) + "\n"

    changed = work.edited(in_one_line)
    return None if changed.files == work.files else changed


@deformation
def colab_drive(work: HandIn) -> HandIn:
    """The cell with the imports mounts Google Drive first."""
    return work.begun_with(
        "from google.colab import drive\ndrive.mount('/content/drive')\n"
        "import sys\nsys.path.append('/content/drive/MyDrive/NLP/hw1')"
    )


@deformation
def data_that_are_elsewhere(work: HandIn) -> HandIn:
    """Files are read by a path that exists on the student's computer only."""
    return work.interrupted_by(
        "train = open('../data/train.tsv').read().splitlines()\nvocabulary = sorted(set(' '.join(train).split()))\n"
        "with open('/content/drive/MyDrive/log.txt', 'w') as log:\n    log.write(str(len(vocabulary)))"
    )


@takes_time
@deformation
def training(work: HandIn) -> HandIn:
    """Hours of training stand between two functions."""
    return work.interrupted_by(
        "import time\nfor epoch in range(10**6):\n    loss = 1 / (epoch + 1)\n    time.sleep(0.05)\nprint('done', loss)"
    )


@takes_time
@deformation
def training_first(work: HandIn) -> HandIn:
    """Hours of training stand before everything else, and swallow every exception to save a checkpoint."""
    return work.begun_with(
        "import time\nwhile True:\n    try:\n        time.sleep(0.05)\n    except Exception:\n        break"
    )


@deformation
def training_under_a_guard(work: HandIn) -> HandIn | None:
    """A script that trains when it is run, with arguments of the command line."""
    if work.is_notebook:
        return None  # there the guard is open
    return work.ended_by(
        "if __name__ == '__main__':\n    import argparse\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--lr', type=float, required=True)\n    args = parser.parse_args()\n"
        "    while True:\n        pass"
    )


@deformation
def cuda(work: HandIn) -> HandIn | None:
    """A model is moved to the graphics card of the student's computer."""
    if not work.torch:
        return None  # importing torch for each of these would measure patience
    return work.begun_with(
        "import torch\nmy_device = torch.device('cuda')\nmy_model = torch.nn.Linear(2, 2).to(my_device)\n"
        "my_other_model = torch.nn.Linear(2, 2).cuda()\nmy_tensor = torch.ones(3, device='cuda:0')\n"
        "torch.cuda.empty_cache()\nprint(torch.cuda.get_device_name(0))"
    )


@deformation
def asks_for_input(work: HandIn) -> HandIn:
    """The program asks its user for numbers."""
    return work.interrupted_by("size = int(input('How many sentences? '))\nfor i in range(size):\n    print(input())")


@deformation
def plots(work: HandIn) -> HandIn:
    """A curve is drawn and shown, or would be if the library were there."""
    return work.interrupted_by(
        "import matplotlib.pyplot as plt\nplt.figure()\nplt.plot([1, 2, 3])\nplt.savefig('loss.png')\nplt.show()"
    )


@deformation
def failing_checks(work: HandIn) -> HandIn:
    """The student's own assertions fail."""
    return work.interrupted_by("assert 1 + 1 == 3, 'strange'\nassert False").begun_with("assert 0.1 + 0.2 == 0.3")


@deformation
def exits(work: HandIn) -> HandIn:
    """The program ends itself, in the middle and at the end."""
    return work.interrupted_by("import sys\nsys.exit('that is all for part 1')").ended_by("exit()")


@deformation
def silent(work: HandIn) -> HandIn:
    """Printing is switched off for the whole program."""
    return work.begun_with("import os, sys\nsys.stdout = open(os.devnull, 'w')\nsys.stderr = sys.stdout")


@deformation
def double_by_default(work: HandIn) -> HandIn | None:
    """torch makes doubles unless it is told otherwise, and has another seed."""
    if not work.torch:
        return None
    return work.begun_with("import torch\ntorch.manual_seed(1234)\ntorch.set_default_dtype(torch.float64)")


@deformation
def torch_settings(work: HandIn) -> HandIn | None:
    """Threads, gradients and determinism of torch are set for the whole process."""
    if not work.torch:
        return None
    return work.begun_with(
        "import torch\ntorch.set_num_threads(8)\ntorch.set_grad_enabled(False)\n"
        "torch.use_deterministic_algorithms(True)\ntorch.autograd.set_detect_anomaly(True)"
    )


@deformation
def floating_point_errors(work: HandIn) -> HandIn:
    """numpy raises for every underflow."""
    return work.begun_with("import numpy as np\nnp.seterr(all='raise')\nnp.set_printoptions(precision=1)")


@deformation
def warnings_as_errors(work: HandIn) -> HandIn:
    """Every warning is an error."""
    return work.begun_with("import warnings\nwarnings.simplefilter('error')")


@deformation
def shallow_recursion(work: HandIn) -> HandIn:
    """The recursion limit is lowered to find a bug, and stays low."""
    return work.ended_by("import sys\nsys.setrecursionlimit(150)")


@deformation
def other_folder(work: HandIn) -> HandIn:
    """The program goes to another folder."""
    return work.begun_with("import os\nos.makedirs('out', exist_ok=True)\nos.chdir('out')").ended_by("os.chdir('/')")


@deformation
def exported_notebook(work: HandIn) -> HandIn | None:
    """A module that Jupyter exported: numbers of cells, shell lines as calls of IPython."""
    if work.is_notebook:
        return None
    return work.begun_with(
        "#!/usr/bin/env python\n# coding: utf-8\n\n# In[1]:\n\nget_ipython().system('pip install wandb')\n"
        "get_ipython().run_line_magic('matplotlib', 'inline')\n\n# In[2]:\n"
    )


@deformation
def shell_lines_in_a_module(work: HandIn) -> HandIn | None:
    """A notebook that was copied into a module by hand, shell lines and all."""
    if work.is_notebook:
        return None
    return work.begun_with("!pip install -q transformers\n%matplotlib inline").ended_by("!ls -l\n\n%timeit sum([1])\n")


@deformation
def debugger_left_in(work: HandIn) -> HandIn:
    """A breakpoint was left at the top of the program."""
    return work.interrupted_by("import pdb\npdb.set_trace()").ended_by("breakpoint()")


@deformation
def processes_at_the_top(work: HandIn) -> HandIn:
    """Shell commands and threads are started while the program is loaded."""
    return work.begun_with(
        "import os, subprocess, threading\nos.system('nvidia-smi')\n"
        "subprocess.run(['git', 'clone', 'https://example.org/hw1.git'], check=True)\n"
        "threading.Thread(target=print, args=('started',)).start()"
    )


@deformation
def in_a_notebook(work: HandIn) -> HandIn | None:
    """The same code, each function in a cell of its own."""
    return None if work.is_notebook else as_notebook(work)
